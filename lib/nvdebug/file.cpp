// SPDX-License-Identifier: MIT OR GPL-2.0
#include "file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <zlib.h>

#include "lib/base/new_file.hpp"

namespace nvdebug {

Descriptor::~Descriptor() {
    if (number_ >= 0)
        ::close(number_);
}

int Descriptor::release() {
    return std::exchange(number_, -1);
}

int read_rest(int descriptor, std::string &text, std::size_t limit) {
    constexpr std::size_t first_step = 64 * 1024;
    for (;;) {
        const std::size_t have = text.size();
        if (have > limit)
            return EFBIG;
        text.resize(have + std::max(first_step, have));
        const ssize_t got = ::read(descriptor, text.data() + have, text.size() - have);
        const int error = got < 0 ? errno : 0;
        text.resize(have + (got > 0 ? static_cast<std::size_t>(got) : 0));
        if (got <= 0)
            return error;
    }
}

int write_once(int descriptor, std::string_view text) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0)
        return errno;
    return static_cast<std::size_t>(written) == text.size() ? 0 : EIO;
}

bool answers(std::string_view file) {
    return file == "translate" || file == "set_timeslice";
}

tl::expected<Performed, int> write_control(const std::string &path, std::string_view text,
                                           bool with_answer) {
    constexpr std::size_t longest_answer = std::size_t{1} << 20;
    const auto file = std::make_shared<const Descriptor>(
        ::open(path.c_str(), (with_answer ? O_RDWR : O_WRONLY) | O_CLOEXEC));
    if (!*file)
        return tl::unexpected(errno);
    Performed performed{file, ""};
    int error = write_once(file->number(), text);
    if (!error && with_answer)
        error = read_rest(file->number(), performed.answer, longest_answer);
    if (error)
        return tl::unexpected(error);
    return performed;
}

int write_gzip(int descriptor, std::string_view text) {
    constexpr std::size_t step = std::size_t{1} << 20;
    Descriptor own(::dup(descriptor));
    if (!own)
        return errno;
    gzFile_s *const file = ::gzdopen(own.number(), "wb");
    if (!file)
        return ENOMEM;
    own.release();
    errno = 0;
    while (!text.empty()) {
        const auto part = static_cast<unsigned>(std::min(text.size(), step));
        if (::gzwrite(file, text.data(), part) <= 0)
            break;
        text.remove_prefix(part);
    }
    // Only the result of gzclose() shows whether the compressed data was complete.
    const bool closed = ::gzclose(file) == Z_OK;
    if (closed && text.empty())
        return 0;
    return errno ? errno : EIO;
}

namespace {

/// Returns the errno if a rename must not replace the existing entry: a folder or a device.
int in_the_way(mode_t mode) {
    return S_ISREG(mode) ? 0 : S_ISDIR(mode) ? EISDIR : EEXIST;
}

/// Writes into a pipe, once it has a reader.
int write_gzip_to_pipe(const std::string &path, std::string_view text) {
    const Descriptor pipe(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    return pipe ? write_gzip(pipe.number(), text) : errno;
}

} // namespace

int write_whole_gzip(const std::string &path, std::string_view text) {
    struct stat about {};
    const bool there = ::stat(path.c_str(), &about) == 0;
    if (there && S_ISFIFO(about.st_mode))
        return write_gzip_to_pipe(path, text);
    if (const int error = there ? in_the_way(about.st_mode) : 0)
        return error;
    auto file = base::NewFile::make(path);
    if (!file)
        return file.error();
    if (const int error = write_gzip(file->descriptor(), text))
        return error;
    return ::fsync(file->descriptor()) ? errno : file->appear();
}

} // namespace nvdebug
