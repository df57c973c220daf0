// SPDX-License-Identifier: MIT OR GPL-2.0
#include "recording_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <zlib.h>

#include "cli/output.hpp"
#include "lib/base/packing.hpp"

namespace nvdebugctl {
namespace {

tl::unexpected<Failure> cannot(const char *what, const std::string &path, int number) {
    return tl::unexpected(
        of_named_file({nvdebug::code_of_errno(number), number, path,
                       fmt::format("cannot {} {}: {}", what, path, std::strerror(number))}));
}

} // namespace

// --- writing ---

Outcome<RecordingFile> RecordingFile::replace(const std::string &path, Appears when) {
    auto made = nvdebug::base::NewFile::make(path);
    if (!made)
        return cannot("open", path, made.error());
    if (when == Appears::at_once)
        if (const int error = made->appear())
            return cannot("open", path, error);
    const int descriptor = ::fcntl(made->descriptor(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (descriptor < 0)
        return cannot("open", path, errno);
    RecordingFile file(descriptor, path);
    file.is_own_ = true;
    if (when == Appears::when_finished)
        file.unfinished_ = std::make_unique<nvdebug::base::NewFile>(std::move(*made));
    return file;
}

Outcome<RecordingFile> RecordingFile::open(const std::string &path, Appears when) {
    if (const auto given = descriptor_named(path)) {
        // The descriptor is duplicated, so that it keeps the flags and the position that its opener
        // gave it.
        const int descriptor = ::fcntl(*given, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        const std::string name = *given == STDOUT_FILENO ? "standard output" : path;
        if (descriptor < 0)
            return cannot("write to", name, errno);
        return RecordingFile(descriptor, name);
    }
    struct stat about {};
    if (::stat(path.c_str(), &about) || S_ISREG(about.st_mode))
        return replace(path, when);
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0)
        return cannot("open", path, errno);
    return RecordingFile(descriptor, path);
}

RecordingFile::RecordingFile(RecordingFile &&other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)),
      is_own_(other.is_own_), unfinished_(std::exchange(other.unfinished_, nullptr)),
      whole_(other.whole_) {}

RecordingFile::~RecordingFile() {
    if (descriptor_ >= 0)
        ::close(descriptor_);
}

Outcome<void> RecordingFile::write(std::string &text) {
    std::string_view rest = text;
    while (!rest.empty()) {
        const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            auto failure = cannot("write", path_, errno);
            // Readers take a piece of a line or a packet for an error, so it is removed. A file
            // that others write to as well is left as it is.
            if (is_own_)
                static_cast<void>(!::ftruncate(descriptor_, whole_));
            return failure;
        }
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
    whole_ += static_cast<off_t>(text.size());
    text.clear();
    return {};
}

Outcome<void> RecordingFile::finish() {
    if (is_own_ && ::fsync(descriptor_))
        return cannot("write", path_, errno);
    if (unfinished_)
        if (const int error = unfinished_->appear())
            return cannot("write", path_, error);
    unfinished_ = nullptr;
    return {};
}

// --- reading ---

namespace {

constexpr std::size_t step = std::size_t{1} << 18;
/// A summary of 1,000 processes on 40 engines has some 20 MB.
constexpr std::size_t longest_line = std::size_t{64} << 20;

} // namespace

Outcome<LineReader> LineReader::open(const std::string &path) {
    const bool is_stdin = path == "-";
    const int descriptor = is_stdin ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                                    : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const std::string name = is_stdin ? "standard input" : path;
    if (descriptor < 0)
        return cannot("open", name, errno);
    struct stat about {};
    int error = ::fstat(descriptor, &about) ? errno : S_ISDIR(about.st_mode) ? EISDIR : 0;
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
Outcome<bool> LineReader::fill() {
    buffer_.erase(0, std::exchange(at_, 0));
    const std::size_t have = buffer_.size();
    if (have > longest_line)
        return malformed_file(
            name_,
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
        return malformed_file(
            name_, fmt::format("{} is damaged behind line {}: it cannot be unpacked further", name_,
                               number_));
    if (const auto refused = nvdebug::base::packing_refused(buffer_);
        refused && number_ == 0 && have == 0)
        return malformed_file(name_, fmt::format("{} {}", name_, *refused));
    return got > 0;
}

Outcome<LineReader::ReadResult> LineReader::next(std::string &line) {
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

} // namespace nvdebugctl
