// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Writes a file that appears only when it is complete.
#pragma once

#include <string>
#include <utility>

#include "nvdebug/expected.hpp"

namespace nvdebug::base {

/// A file without a name until appear(), so that a process that is killed leaves nothing behind. On
/// a file system without such files, the file has the final name and six random letters until then.
class NewFile {
  public:
    /// Makes the file in the folder of @p path, readable and writable for its owner only. Fails
    /// with the errno.
    [[nodiscard]] static tl::expected<NewFile, int> make(const std::string &path);
    NewFile(NewFile &&other) noexcept;
    NewFile &operator=(NewFile &&) = delete;
    /// Removes a file that did not appear.
    ~NewFile();

    [[nodiscard]] int descriptor() const { return descriptor_; }
    /// Gives the file its name by a rename, which replaces a file of that name in one step and which
    /// programs that watch the folder take up. @returns 0 or the errno
    [[nodiscard]] int appear();

  private:
    NewFile(int descriptor, std::string path, std::string temporary)
        : descriptor_(descriptor), path_(std::move(path)), temporary_(std::move(temporary)) {}
    [[nodiscard]] int link_beside();

    int descriptor_;
    std::string path_;
    std::string temporary_; ///< the file's name until it appears; empty: no name
};

} // namespace nvdebug::base
