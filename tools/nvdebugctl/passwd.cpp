// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file getpwuid_r() of the static program, in place of the C library's, which loads plugins
/// (nsswitch.conf) of the C library that it was built with.
#include <cerrno>
#include <cstdio>
#include <memory>
#include <pwd.h>

/// Looks up a user in /etc/passwd alone. For users of a directory service the tool shows the
/// number.
extern "C" int getpwuid_r(uid_t uid, passwd *entry, char *text, std::size_t bytes,
                          passwd **result) {
    *result = nullptr;
    const std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(std::fopen("/etc/passwd", "re"),
                                                                std::fclose);
    if (!file)
        return errno;
    int error = 0;
    while (!(error = fgetpwent_r(file.get(), entry, text, bytes, result)))
        if (entry->pw_uid == uid)
            return 0;
    *result = nullptr;
    return error == ENOENT ? 0 : error;
}
