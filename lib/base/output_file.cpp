// SPDX-License-Identifier: MIT OR GPL-2.0
#include "output_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

#include "input_file.hpp"
#include "new_file.hpp"
#include "printable.hpp"

namespace nvdebug::base {
namespace {

int write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written >= 0)
            text.remove_prefix(static_cast<std::size_t>(written));
        else if (errno != EINTR)
            return errno;
    }
    return 0;
}

int write_to_existing(const std::string &path, std::string_view text) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0)
        return errno;
    const int error = write_all(descriptor, text);
    return ::close(descriptor) && !error ? errno : error;
}

/// Returns whether both names lead to the same regular file, which need not exist yet.
bool are_same(const std::string &output, const std::string &other) {
    struct stat one {};
    struct stat two {};
    const bool is_one = ::stat(output.c_str(), &one) == 0,
               is_two = other == "-" ? ::fstat(STDIN_FILENO, &two) == 0
                                     : ::stat(other.c_str(), &two) == 0;
    if (is_one && is_two)
        return S_ISREG(one.st_mode) && one.st_dev == two.st_dev && one.st_ino == two.st_ino;
    if (is_one != is_two || other == "-")
        return false;
    std::error_code error;
    const auto name = [&](const std::string &path) {
        return std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
    };
    return name(output) == name(other) && !error;
}

} // namespace

std::optional<std::string> why_not_write(const std::string &what, const std::string &output,
                                         const std::string &other) {
    if (output == "-" || !are_same(output, other))
        return std::nullopt;
    return what + " " + printable(output) + " is the same file as " + input_name(other) +
           ", which would be lost; name another file";
}

int write_file(const std::string &path, std::string_view text, mode_t mode) {
    struct stat there {};
    const bool exists = ::stat(path.c_str(), &there) == 0;
    if (exists && !S_ISREG(there.st_mode))
        return write_to_existing(path, text);
    std::string final = path;
    std::error_code no_link;
    if (exists)
        if (const auto real = std::filesystem::canonical(path, no_link); !no_link)
            final = real.string();
    auto file = NewFile::make(final);
    if (!file)
        return file.error();
    if (const int error = write_all(file->descriptor(), text))
        return error;
    constexpr mode_t all_bits = 07777;
    const mode_t mask = ::umask(0);
    ::umask(mask);
    if (::fchmod(file->descriptor(), exists ? there.st_mode & all_bits : mode & ~mask) ||
        ::fsync(file->descriptor()))
        return errno;
    return file->appear();
}

} // namespace nvdebug::base
