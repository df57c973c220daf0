// SPDX-License-Identifier: MIT OR GPL-2.0
#include "folder.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "variables.hpp"

namespace nvtaskset {
namespace {

bool is_own_directory(const std::string &path) {
    struct stat found {};
    return lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
           found.st_uid == geteuid() && !(found.st_mode & 022);
}

} // namespace

Outcome<Folder> Folder::open(const std::string &path, bool make, unsigned forbidden) {
    if (make && mkdir(path.c_str(), 0700) < 0 && errno != EEXIST)
        return fail("cannot make the folder " + path + ": " + std::strerror(errno), Exit::failed);
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0 && errno == ENOENT)
        return fail("there is no folder " + path);
    Folder folder(path, descriptor);
    struct stat found {};
    if (descriptor < 0 || fstat(descriptor, &found) < 0 || found.st_uid != geteuid() ||
        (found.st_mode & forbidden))
        return fail("the folder " + path +
                    " is not this user's alone; remove it, or set XDG_RUNTIME_DIR");
    return folder;
}

Folder::Folder(Folder &&other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

Folder::~Folder() {
    if (descriptor_ >= 0)
        close(descriptor_);
}

std::string runtime_path() {
    const std::string user = std::to_string(geteuid());
    if (!geteuid())
        return "/run/nvtaskset";
    if (const char *const named = variable("XDG_RUNTIME_DIR");
        named && *named == '/' && is_own_directory(named))
        return std::string(named) + "/nvtaskset";
    if (const std::string usual = "/run/user/" + user; is_own_directory(usual))
        return usual + "/nvtaskset";
    return "/tmp/nvtaskset-" + user;
}

} // namespace nvtaskset
