// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A file that is there once it is whole.
#pragma once

#include <string>
#include <utility>

#include "nvdebug/expected.hpp"

namespace nvdebug::base {

/// A file without a name until appear(), so that a process that is killed leaves nothing. Where the
/// file system has no such files, it has a name with six random letters behind it.
class NewFile {
  public:
    /// In @p path 's folder, readable and writable for its owner only. @returns or the errno
    [[nodiscard]] static tl::expected<NewFile, int> make(const std::string &path);
    NewFile(NewFile &&other) noexcept;
    NewFile &operator=(NewFile &&) = delete;
    /// A file that did not appear is gone.
    ~NewFile();

    [[nodiscard]] int descriptor() const { return descriptor_; }
    /// Gives it its name; what has that name is replaced in one step. @returns 0 or the errno
    [[nodiscard]] int appear();

  private:
    NewFile(int descriptor, std::string path, std::string temporary)
        : descriptor_(descriptor), path_(std::move(path)), temporary_(std::move(temporary)) {}
    [[nodiscard]] int link_beside();

    int descriptor_;
    std::string path_;
    std::string temporary_; ///< its name until it appears; empty: it has none
};

} // namespace nvdebug::base
