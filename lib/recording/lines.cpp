// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lines.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <zlib.h>

#include "fields.hpp"
#include "lib/base/packing.hpp"

namespace recording {

using nvdebug::Error;
using nvdebug::ErrorCode;
using nvdebug::Result;
namespace base = nvdebug::base;

namespace {

tl::unexpected<Error> cannot(const char *what, const std::string &path, int number) {
    const int kept = number == EBADF ? 0 : number; // standard input is closed, and stays so
    return tl::unexpected(
        Error{nvdebug::code_of_errno(number), kept, path,
              fmt::format("cannot {} {}: {}", what, path, std::strerror(number))});
}

constexpr std::size_t step = std::size_t{1} << 18;
/// A summary of 1,000 processes on 40 engines has some 20 MB.
constexpr std::size_t longest_line = std::size_t{64} << 20;

} // namespace

Result<LineReader> LineReader::open(const std::string &path) {
    const bool is_stdin = path == "-";
    const int descriptor = is_stdin ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                                    : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    return adopt(descriptor, is_stdin ? "standard input" : path, false);
}

Result<LineReader> LineReader::open_untrusted(const std::string &path) {
    return adopt(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY),
                 path, true);
}

/// @param descriptor negative: errno says why the file could not be opened
Result<LineReader> LineReader::adopt(int descriptor, const std::string &name, bool regular) {
    if (descriptor < 0)
        return cannot("open", name, errno);
    struct stat about {};
    int error = ::fstat(descriptor, &about) ? errno : S_ISDIR(about.st_mode) ? EISDIR : 0;
    if (!error && regular && !S_ISREG(about.st_mode)) {
        ::close(descriptor);
        return malformed(fmt::format("{} is no regular file", name));
    }
    gzFile_s *const file = error ? nullptr : ::gzdopen(descriptor, "rb");
    if (!file) {
        ::close(descriptor);
        return cannot("open", name, error ? error : ENOMEM);
    }
    ::gzbuffer(file, step);
    return LineReader(file, name);
}

LineReader::LineReader(LineReader &&other) noexcept
    : file_(std::exchange(other.file_, nullptr)), name_(std::move(other.name_)),
      buffer_(std::move(other.buffer_)), at_(other.at_), number_(other.number_) {}

LineReader::~LineReader() {
    if (file_)
        ::gzclose(file_);
}

/// Reads more of the file into the buffer.
/// @return false: there is no more
Result<bool> LineReader::fill() {
    buffer_.erase(0, std::exchange(at_, 0));
    const std::size_t have = buffer_.size();
    if (have > longest_line)
        return malformed(
            fmt::format("line {} of {} is longer than 64 MiB, the limit of a recording's lines",
                        number_ + 1, name_));
    buffer_.resize(have + step);
    errno = 0;
    const int got = ::gzread(file_, buffer_.data() + have, step);
    buffer_.resize(have + static_cast<std::size_t>(std::max(got, 0)));
    int error = Z_OK;
    ::gzerror(file_, &error);
    if (got < 0 && error == Z_ERRNO && errno)
        return cannot("read", name_, errno);
    // A packed file that was cut off gives Z_BUF_ERROR after everything that could be unpacked.
    if (got < 0 && error != Z_BUF_ERROR)
        return malformed(fmt::format("{} is damaged behind line {}: it cannot be unpacked further",
                                     name_, number_));
    if (const auto refused = base::packing_refused(buffer_); refused && number_ == 0 && have == 0)
        return malformed(fmt::format("{} {}", name_, *refused));
    return got > 0;
}

Result<LineReader::ReadResult> LineReader::next(std::string &line) {
    for (std::size_t from = at_;;) {
        if (const std::size_t end = buffer_.find('\n', from); end != buffer_.npos) {
            line.assign(buffer_, at_, end - at_);
            at_ = end + 1;
            number_++;
            return ReadResult::line;
        }
        // The search goes on there once the rest has moved to the front.
        from = buffer_.size() - at_;
        const auto more = fill();
        if (!more)
            return tl::unexpected(more.error());
        if (!*more) {
            line = buffer_;
            return line.empty() ? ReadResult::end : ReadResult::cut;
        }
    }
}

} // namespace recording
