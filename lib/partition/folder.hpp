// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Folders that belong to this user alone, so that no other user can put files into them.
#pragma once

#include <string>

#include "outcome.hpp"

namespace nvtaskset {

/// An open directory.
class Folder {
  public:
    /// Opens a directory, and makes it first if @p make. Fails if it is a link, belongs to another
    /// user, or has one of the bits @p forbidden in its mode.
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

/// Returns the folder of this user's files until the next boot: `/run/nvtaskset` for root, or else
/// `$XDG_RUNTIME_DIR/nvtaskset`, `/run/user/UID/nvtaskset` or, if there is neither of these,
/// `/tmp/nvtaskset-UID`.
[[nodiscard]] std::string runtime_path();

} // namespace nvtaskset
