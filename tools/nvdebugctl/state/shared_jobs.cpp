// SPDX-License-Identifier: MIT OR GPL-2.0
#include "shared_jobs.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <set>
#include <thread>

#include "cli/side_by_side.hpp"

namespace nvdebugctl {

using nvdebug::MeasuredJob;
using nvdebug::Result;

std::string name_of(const MeasuredJob &job) {
    const nvdebug::Process &first = job.processes.front().process;
    std::set<std::uint32_t> pids;
    for (const nvdebug::JobProcess &one : job.processes)
        pids.insert(one.process.pid);
    const std::string name = first.command ? fmt::format("{}[{}]", *first.command, first.pid)
                                           : fmt::format("pid {}", first.pid);
    return pids.size() > 1 ? fmt::format("{} ({} processes)", name, pids.size()) : name;
}

std::vector<SharedGpus> shared_gpus(const std::vector<MeasuredJob> &jobs) {
    std::vector<std::set<std::uint32_t>> gpus;
    for (const MeasuredJob &job : jobs) {
        gpus.emplace_back();
        for (const nvdebug::JobProcess &one : job.processes)
            gpus.back().insert(one.gpu);
    }
    std::map<std::vector<std::uint32_t>, std::set<std::size_t>> found;
    for (std::size_t one = 0; one < jobs.size(); one++)
        for (std::size_t other = one + 1; other < jobs.size(); other++) {
            std::vector<std::uint32_t> common;
            std::ranges::set_intersection(gpus[one], gpus[other], std::back_inserter(common));
            if (common.size() >= 2)
                found[common].insert({one, other});
        }
    std::vector<SharedGpus> shared;
    for (const auto &[common, numbers] : found)
        shared.push_back({common, {numbers.begin(), numbers.end()}});
    return shared;
}

namespace {

/// What the record of a GPU's switches shows.
struct RecordedTurns {
    std::vector<nvdebug::ClockReadings> clocks;
    std::vector<nvdebug::Process> processes;
    std::vector<nvdebug::Turn> turns;
};

Result<RecordedTurns> record_turns(const nvdebug::Gpu &gpu, std::chrono::milliseconds length) {
    const auto reader = gpu.follow_switches();
    if (!reader)
        return tl::unexpected(reader.error());
    RecordedTurns recorded;
    const auto begin = nvdebug::read_clocks(**reader);
    if (!begin)
        return tl::unexpected(begin.error());
    std::this_thread::sleep_for(length);
    std::vector<nvdebug::ContextSwitch> switches;
    if (const auto read = (*reader)->read(switches); !read)
        return tl::unexpected(read.error());
    const auto end = nvdebug::read_clocks(**reader);
    if (!end)
        return tl::unexpected(end.error());
    recorded.clocks = {*begin, *end};
    nvdebug::SwitchTurns turns(begin->gpu_ns);
    for (const nvdebug::ContextSwitch &one : switches)
        turns.add(one, recorded.turns);
    turns.end(end->gpu_ns, recorded.turns);
    std::map<std::uint32_t, nvdebug::Process> processes;
    for (nvdebug::Turn &turn : recorded.turns) {
        const auto [at, fresh] = processes.try_emplace(turn.who.pid.value_or(0));
        if (fresh)
            at->second = (*reader)->process(at->first);
        turn.who.started = at->second.started;
    }
    // Without a start a process is hidden, is the driver's own, or has ended.
    for (const auto &[pid, process] : processes)
        if (process.started)
            recorded.processes.push_back(process);
    return recorded;
}

} // namespace

std::vector<MeasuredJob> measure_shared_jobs(const std::vector<nvdebug::Gpu> &gpus,
                                             std::chrono::milliseconds length) {
    if (gpus.size() < 2)
        return {};
    SideBySide all(gpus, gpu_deadline + length);
    const auto owners = all.ask([](const nvdebug::Gpu &gpu) { return gpu.owners(); });
    std::vector<nvdebug::JobProcess> processes;
    for (std::size_t n = 0; n < gpus.size(); n++) {
        if (!owners[n])
            continue;
        std::set<std::uint32_t> pids;
        for (const nvdebug::OwnedChannel &channel : owners[n]->channels)
            pids.insert(channel.pid);
        for (const nvdebug::Process &process : owners[n]->processes)
            if (pids.contains(process.pid))
                processes.push_back({gpus[n].index(), process});
    }
    std::vector<MeasuredJob> jobs;
    for (const auto &numbers : nvdebug::jobs_on_several_gpus(processes)) {
        jobs.emplace_back();
        for (const std::size_t n : numbers)
            jobs.back().processes.push_back(processes[n]);
    }
    if (shared_gpus(jobs).empty())
        return {};
    const auto recorded =
        all.ask([length](const nvdebug::Gpu &gpu) { return record_turns(gpu, length); });
    nvdebug::JobMeter meter;
    for (std::size_t n = 0; n < gpus.size(); n++) {
        if (!recorded[n])
            continue;
        const std::uint32_t gpu = gpus[n].index();
        for (const nvdebug::ClockReadings &reading : recorded[n]->clocks)
            meter.clock(gpu, reading.gpu_ns, reading.monotonic_ns);
        for (const nvdebug::Process &process : recorded[n]->processes)
            meter.process(gpu, process);
        for (const nvdebug::Turn &turn : recorded[n]->turns)
            meter.turn(gpu, turn);
    }
    return meter.take();
}

} // namespace nvdebugctl
