// SPDX-License-Identifier: MIT OR GPL-2.0
#include "decisions.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "lib/base/printable.hpp"

namespace nvqos {
namespace {

/// The thread writes when it has so many bytes, or after this time.
constexpr std::size_t worth_a_write = std::size_t{64} << 10;
constexpr std::chrono::milliseconds longest_unwritten{200};

std::string text_of(std::size_t bytes) {
    constexpr std::size_t mib = std::size_t{1} << 20;
    return bytes % mib ? fmt::format("{} bytes", bytes) : fmt::format("{} MiB", bytes / mib);
}

} // namespace

Outcome<std::shared_ptr<Decisions>> Decisions::open(const std::string &path, Warn warn,
                                                    const Bounds &bounds) {
    const auto refuse = [&](Exit exit, const char *why) {
        return fail(exit, fmt::format("decisions cannot be written to {}: {}; name a file in a "
                                      "folder that may be written, with --decisions",
                                      nvdebug::base::printable(path), why));
    };
    struct stat about {};
    // The rename to the path would replace a device or a pipe, too.
    if (::lstat(path.c_str(), &about) == 0 && !S_ISREG(about.st_mode))
        return refuse(bad_usage, "it is there, and is no regular file");
    auto file = nvdebug::base::NewFile::make(path);
    if (!file)
        return refuse(of_file(file.error()), std::strerror(file.error()));
    if (const int error = file->appear())
        return refuse(of_file(error), std::strerror(error));
    std::shared_ptr<Decisions> made(new Decisions(std::move(*file), path, std::move(warn), bounds));
    made->add(R"({"schema":"nvqos/decisions","schema_version":"1.1","program":")" NVQOS_VERSION
              R"("})");
    return made;
}

Decisions::Decisions(nvdebug::base::NewFile file, std::string path, Warn warn, const Bounds &bounds)
    : file_(std::move(file)), path_(std::move(path)), warn_(std::move(warn)), bounds_(bounds),
      thread_([this] { write_lines(); }) {}

void Decisions::add(const std::string &line) {
    std::string why;
    {
        const std::scoped_lock held(lock_);
        if (has_ended_ || finishes_)
            return;
        const std::size_t bytes = line.size() + 1;
        if (added_ + bytes > bounds_.file)
            why = fmt::format("the file has {}, which is the most", text_of(bounds_.file));
        else if (lines_.size() + bytes > bounds_.memory)
            why = fmt::format("the disk is so slow that {} wait for it", text_of(bounds_.memory));
        has_ended_ = !why.empty();
        if (!has_ended_) {
            const bool was_worth = lines_.size() >= worth_a_write;
            added_ += bytes;
            lines_ += line;
            lines_ += '\n';
            if (!was_worth && lines_.size() >= worth_a_write)
                changed_.notify_all();
        }
    }
    if (!why.empty())
        warn_of_end(why);
}

void Decisions::warn_of_end(const std::string &why) const {
    warn_(fmt::format("the record of decisions in {} ends here: {}; goals are kept on",
                      nvdebug::base::printable(path_), why));
}

void Decisions::write_lines() {
    std::unique_lock held(lock_);
    for (;;) {
        changed_.wait_for(held, longest_unwritten,
                          [&] { return finishes_ || lines_.size() >= worth_a_write; });
        const bool is_last = finishes_;
        const std::string lines = std::exchange(lines_, {});
        held.unlock();
        const int error = lines.empty() ? 0 : write(lines);
        held.lock();
        if (error) {
            const bool is_news = !std::exchange(has_ended_, true);
            held.unlock();
            if (is_news)
                warn_of_end(std::strerror(error));
            return;
        }
        if (is_last)
            return;
    }
}

/// Returns the errno if not all lines were written; the file then has no part of a line.
int Decisions::write(const std::string &lines) {
    for (std::size_t at = 0; at < lines.size();) {
        const ssize_t more = ::write(file_.descriptor(), lines.data() + at, lines.size() - at);
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0) {
            const int error = more < 0 ? errno : ENOSPC;
            const std::size_t line = at ? lines.rfind('\n', at - 1) : lines.npos;
            const std::size_t whole = line == lines.npos ? 0 : line + 1;
            static_cast<void>(
                !::ftruncate(file_.descriptor(), static_cast<off_t>(written_ + whole)));
            return error;
        }
        at += static_cast<std::size_t>(more);
    }
    written_ += lines.size();
    return 0;
}

void Decisions::finish() {
    {
        const std::scoped_lock held(lock_);
        finishes_ = true;
        changed_.notify_all();
    }
    if (thread_.joinable())
        thread_.join();
}

} // namespace nvqos
