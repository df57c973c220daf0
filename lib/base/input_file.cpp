// SPDX-License-Identifier: MIT OR GPL-2.0
#include "input_file.hpp"

#include <array>
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

tl::unexpected<NotRead> cannot_read(const std::string &name, int error) {
    const int number = error == EBADF ? 0 : error; // standard input is closed, and stays so
    return tl::unexpected(NotRead{number, name + " cannot be read: " + ::strerrordesc_np(error)});
}

/// Reads a descriptor to its end, and closes it.
/// @param name printable, for the sentence of a failure
tl::expected<std::string, NotRead> read_to_end(int file, const std::string &name,
                                               std::size_t most) {
    std::string text;
    int error = 0;
    while (!error && text.size() <= most) {
        std::array<char, std::size_t{1} << 16> part;
        const ssize_t got = ::read(file, part.data(), part.size());
        if (got == 0)
            break;
        if (got > 0)
            text.append(part.data(), static_cast<std::size_t>(got));
        else if (errno != EINTR)
            error = errno;
    }
    ::close(file);
    if (error)
        return cannot_read(name, error);
    if (text.size() > most)
        return tl::unexpected(NotRead{0, name + " cannot be read: it has more than " +
                                             std::to_string(most) + " bytes"});
    return text;
}

} // namespace

std::string input_name(const std::string &path) {
    return path == "-" ? "standard input" : printable(path);
}

tl::expected<std::string, NotRead> read_whole(const std::string &path, std::size_t most) {
    const auto wrong = [&](const std::string &what) {
        return tl::unexpected(NotRead{0, printable(path) + " is no file: it is " + what});
    };
    // The kind is checked before open(), since a socket cannot be opened, and opening some devices
    // acts.
    struct stat found {};
    if (::stat(path.c_str(), &found))
        return cannot_read(printable(path), errno);
    if (const char *const other = other_than_file(found.st_mode))
        return wrong(other);
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return cannot_read(printable(path), errno);
    // Another file may have taken the name since.
    const int error = ::fstat(file, &found) ? errno : 0;
    const char *const other = error ? nullptr : other_than_file(found.st_mode);
    if (!error && !other)
        return read_to_end(file, printable(path), most);
    ::close(file);
    return error ? cannot_read(printable(path), error) : wrong(other);
}

tl::expected<std::string, NotRead> read_once(const std::string &path, std::size_t most) {
    const int file = path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                                 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (file < 0)
        return cannot_read(input_name(path), errno);
    return read_to_end(file, input_name(path), most);
}

} // namespace nvdebug::base
