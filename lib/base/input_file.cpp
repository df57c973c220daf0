// SPDX-License-Identifier: MIT OR GPL-2.0
#include "input_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "printable.hpp"

namespace nvdebug::base {
namespace {

/// Returns the kind of a file that is no regular file, for a sentence; nullptr: it is a regular
/// file.
const char *other_than_file(mode_t mode) {
    if (S_ISDIR(mode))
        return "a folder; container runtimes make one where the file of a mount is missing";
    if (S_ISFIFO(mode))
        return "a pipe";
    if (S_ISSOCK(mode))
        return "a socket";
    return S_ISREG(mode) ? nullptr : "a device";
}

} // namespace

tl::expected<std::string, std::string> read_whole(const std::string &path, std::size_t most) {
    const auto cannot = [&](int error) {
        return tl::unexpected(printable(path) + " cannot be read: " + ::strerrordesc_np(error));
    };
    const auto wrong = [&](const std::string &what) {
        return tl::unexpected(printable(path) + " is no file: it is " + what);
    };
    // The kind is checked before open(), since a socket cannot be opened, and opening some devices
    // acts.
    struct stat found {};
    if (::stat(path.c_str(), &found))
        return cannot(errno);
    if (const char *const other = other_than_file(found.st_mode))
        return wrong(other);
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return cannot(errno);
    std::string text(most + 1, 0);
    std::size_t size = 0;
    int error = ::fstat(file, &found) ? errno : 0;
    while (!error && S_ISREG(found.st_mode) && size < text.size()) {
        const ssize_t got = ::read(file, text.data() + size, text.size() - size);
        if (got == 0)
            break;
        if (got > 0)
            size += static_cast<std::size_t>(got);
        else if (errno != EINTR)
            error = errno;
    }
    ::close(file);
    if (error)
        return cannot(error);
    if (const char *const other = other_than_file(found.st_mode))
        return wrong(other);
    if (size > most)
        return tl::unexpected(printable(path) + " cannot be read: it has more than " +
                              std::to_string(most) + " bytes");
    text.resize(size);
    return text;
}

} // namespace nvdebug::base
