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

#include "cli/output.hpp"

namespace nvdebugctl {
namespace {

tl::unexpected<Failure> cannot(const char *what, const std::string &path, int number) {
    return tl::unexpected(
        of_named_file({nvdebug::code_of_errno(number), number, path,
                       fmt::format("cannot {} {}: {}", what, path, std::strerror(number))}));
}

} // namespace

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

} // namespace nvdebugctl
