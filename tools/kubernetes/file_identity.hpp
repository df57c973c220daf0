// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Distinguishes a file from a later one at the same path.
#pragma once

#include <cstdint>
#include <string>
#include <sys/stat.h>

namespace nvdebug::kubernetes {

/// All zeros: there is no file. The time is that of the last change of the inode, because a new
/// file may have the number of a removed one.
struct FileIdentity {
    std::uint64_t device = 0, inode = 0;
    std::int64_t changed_s = 0, changed_ns = 0;

    bool operator==(const FileIdentity &) const = default;
    [[nodiscard]] explicit operator bool() const { return inode != 0; }
};

[[nodiscard]] inline FileIdentity identity_of(const std::string &path) {
    struct stat about {};
    if (::lstat(path.c_str(), &about))
        return {};
    return {about.st_dev, about.st_ino, about.st_ctim.tv_sec, about.st_ctim.tv_nsec};
}

} // namespace nvdebug::kubernetes
