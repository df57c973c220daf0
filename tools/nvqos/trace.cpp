// SPDX-License-Identifier: MIT OR GPL-2.0
#include "trace.hpp"

#include <cstring>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/printable.hpp"
#include "lib/drawing/perfetto.hpp"

namespace nvqos {
namespace {

using nvdebug::base::printable;

constexpr std::string_view trace_suffix = ".pftrace";

tl::unexpected<Failure> trace_failure(const std::string &path, int number) {
    return fail(of_file(number),
                fmt::format("cannot write {}: {}", printable(path), std::strerror(number)));
}

std::uint32_t pid_of(std::size_t job) {
    return static_cast<std::uint32_t>(job) + 1;
}

} // namespace

Outcome<std::unique_ptr<Trace>> Trace::open(const std::string &path,
                                            const simulation::Scenario &scenario) {
    if (!path.ends_with(trace_suffix))
        return fail(bad_usage, fmt::format("{} does not end with '{}', as traces for Perfetto do: "
                                           "'nvqos simulate' writes no other form",
                                           printable(path), trace_suffix));
    struct stat about {};
    const bool exists = ::stat(path.c_str(), &about) == 0;
    if (exists && S_ISDIR(about.st_mode))
        return trace_failure(path, EISDIR);
    if (exists && !S_ISREG(about.st_mode))
        return fail(bad_usage, fmt::format("cannot write {}: it is a pipe or a device, and the "
                                           "trace takes a file",
                                           printable(path)));
    auto file = nvdebug::base::NewFile::make(path);
    if (!file)
        return trace_failure(path, file.error());
    return std::unique_ptr<Trace>(new Trace(path, std::move(*file), scenario));
}

Trace::Trace(std::string path, nvdebug::base::NewFile file, const simulation::Scenario &scenario)
    : path_(std::move(path)), file_(std::move(file)), sink_(drawing::make_perfetto()) {
    drawing::RecordingHead head{"", "simulation", 0, {}};
    for (std::uint32_t gpu = 0; gpu < scenario.gpus.count; gpu++) {
        lanes_.push_back({gpu, "GR0", drawing::Lane::Means::switches});
        head.gpus.push_back({gpu, "simulated", scenario.name});
    }
    sink_->head(head);
    for (std::size_t job = 0; job < scenario.jobs.size(); job++)
        processes_.push_back(
            {pid_of(job), scenario.jobs[job].name, std::nullopt, std::nullopt, {}});
}

void Trace::turn(const simulation::RankPlace &where, qos::Ns begin, qos::Ns end, bool whole) {
    const nvdebug::Holder who{
        .pid = pid_of(where.job), .runlist = 0, .tsg = static_cast<std::uint32_t>(where.rank)};
    sink_->turn(lanes_[where.gpu],
                {who, static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end), whole,
                 std::nullopt},
                &processes_[where.job]);
    constexpr std::size_t piece = std::size_t{1} << 20;
    drain(piece);
}

void Trace::served(const simulation::RankPlace &where, const simulation::Request &request,
                   qos::Ns now) {
    using What = simulation::Request::What;
    const std::string &name = *processes_[where.job].command;
    const std::string text = request.what == What::timeslice
                                 ? fmt::format("{}: timeslice {}us", name, request.driver_us)
                             : request.what == What::pause ? name + ": pause"
                                                           : name + ": resume";
    sink_->mark({static_cast<std::uint32_t>(where.gpu), static_cast<std::uint64_t>(now),
                 pid_of(where.job), text});
}

/// Writes the collected text if it is longer than @p least bytes.
void Trace::drain(std::size_t least) {
    std::string &text = sink_->text();
    if (text.size() <= least)
        return;
    std::string_view rest = text;
    while (!error_ && !rest.empty()) {
        const ssize_t written = ::write(file_.descriptor(), rest.data(), rest.size());
        if (written >= 0)
            rest.remove_prefix(static_cast<std::size_t>(written));
        else if (errno != EINTR)
            error_ = errno;
    }
    text.clear();
}

Outcome<void> Trace::finish() {
    drain(0);
    if (!error_ && ::fsync(file_.descriptor()))
        error_ = errno;
    if (!error_)
        error_ = file_.appear();
    if (error_)
        return trace_failure(path_, error_);
    return {};
}

} // namespace nvqos
