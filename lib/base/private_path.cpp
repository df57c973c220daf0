// SPDX-License-Identifier: MIT OR GPL-2.0
#include "private_path.hpp"

#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace nvdebug::base {

namespace fs = std::filesystem;

bool is_private(const std::string &path) {
    std::error_code error;
    const fs::path whole = fs::canonical(path, error);
    fs::path part;
    for (const fs::path &name : whole) {
        part /= name;
        struct stat found {};
        if (lstat(part.c_str(), &found) < 0 || (found.st_uid != geteuid() && found.st_uid != 0))
            return false;
        if ((found.st_mode & 022) && !(found.st_mode & S_ISVTX))
            return false;
    }
    return !error && !whole.empty();
}

} // namespace nvdebug::base
