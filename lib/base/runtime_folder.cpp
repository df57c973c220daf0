// SPDX-License-Identifier: MIT OR GPL-2.0
#include "runtime_folder.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nvdebug::base {

int make_private_folder(const char *path) {
    if (::mkdir(path, S_IRWXU) && errno != EEXIST)
        return errno;
    const int folder = ::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return errno;
    struct stat about {};
    int error = ::fstat(folder, &about) ? errno : 0;
    if (!error && about.st_uid != ::geteuid())
        error = EPERM;
    if (!error && (about.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO)) != S_IRWXU &&
        ::fchmod(folder, S_IRWXU))
        error = errno;
    ::close(folder);
    return error;
}

} // namespace nvdebug::base
