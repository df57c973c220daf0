// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Folders that are this user's alone, so that no one else can put anything in their place.
#pragma once

#include <string>

#include "outcome.hpp"

namespace nvtaskset {

/// A directory, open.
class Folder {
  public:
    /// Fails if it is a link, another user's, or has one of the mode's bits @p forbidden. Makes it
    /// if @p make.
    [[nodiscard]] static Outcome<Folder> open(const std::string &path, bool make,
                                              unsigned forbidden = 077);
    Folder(Folder &&other) noexcept;
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;
    ~Folder();

    const std::string &path() const { return path_; }
    int descriptor() const { return descriptor_; }

  private:
    Folder(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

    std::string path_;
    int descriptor_;
};

/// Where this user's files lie until the next boot: `/run/nvtaskset` for root, else
/// `$XDG_RUNTIME_DIR/nvtaskset`, `/run/user/UID/nvtaskset` or, where neither is,
/// `/tmp/nvtaskset-UID`.
[[nodiscard]] std::string runtime_path();

} // namespace nvtaskset
