// SPDX-License-Identifier: MIT OR GPL-2.0
#include "totals.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <tuple>

#include "cli/json.hpp"
#include "nvdebug/control.hpp"
#include "recorded_identity.hpp"
#include "state/shared_jobs.hpp"

namespace nvdebugctl {

using nvdebug::Holder;
using nvdebug::Lengths;
using nvdebug::Tally;
using nvdebug::Turn;

void Totals::process(std::uint32_t gpu, const RecordedProcess &process) {
    processes_.insert(gpu, process);
    jobs_.process(gpu, process_of(process));
}

namespace {

/// Returns the timeslice of the TSG that had the turn; empty: the turn was found by samples.
std::optional<std::uint64_t> timeslice_of(const Lane &lane, const Turn &turn,
                                          const RecordedProcess *process) {
    if (!process || lane.means == Lane::Means::samples)
        return std::nullopt;
    for (const RecordedProcess::Tsg &tsg : process->tsgs)
        if (tsg.runlist == turn.who.runlist && tsg.id == turn.who.tsg)
            return tsg.timeslice_ns;
    return std::nullopt;
}

} // namespace

void Totals::turn(const Lane &lane, const Turn &turn, const RecordedProcess *process) {
    const auto [at, fresh] = engines_.try_emplace(&lane);
    if (fresh)
        order_.push_back(&lane);
    Engine &engine = at->second;
    engine.tally.add(turn, timeslice_of(lane, turn, process));
    if (!engine.first_ns)
        engine.first_ns = turn.begin_ns;
    engine.last_ns = turn.end_ns;
    if (lane.means == Lane::Means::switches)
        jobs_.turn(lane.gpu, turn);
    turns_++;
}

void Totals::lost(const Lane &lane, std::uint64_t, std::uint64_t count) {
    const auto [at, fresh] = engines_.try_emplace(&lane);
    if (fresh)
        order_.push_back(&lane);
    at->second.lost += count;
    at->second.tally.lose();
}

void Totals::end(const Lane &lane, const LaneEnd &end) {
    const auto [at, fresh] = engines_.try_emplace(&lane);
    if (fresh)
        order_.push_back(&lane);
    at->second.end = end;
}

namespace {

Json part_of(std::uint64_t ns, std::uint64_t whole_ns) {
    if (!whole_ns)
        return nullptr;
    return percent(std::min(1.0, static_cast<double>(ns) / static_cast<double>(whole_ns)));
}

Json length(const Lengths &lengths, std::uint64_t ns) {
    return lengths.count() ? microseconds(ns) : Json();
}

Json holder_json(const Holder &who, const Tally::Held &held, const RecordedProcess *process,
                 std::uint64_t whole_ns) {
    Json timeslices = Json::array(), tsgs = Json::array();
    if (process)
        for (const RecordedProcess::Tsg &tsg : process->tsgs) {
            tsgs.push_back(nvdebug::to_string(nvdebug::Target{tsg.runlist, tsg.id}));
            if (const Json us = tsg.timeslice_ns ? microseconds(*tsg.timeslice_ns) : Json();
                !us.is_null() && std::ranges::find(timeslices, us) == timeslices.end())
                timeslices.push_back(us);
        }
    if (!process && who.tsg && who.runlist)
        tsgs.push_back(nvdebug::to_string(nvdebug::Target{*who.runlist, *who.tsg}));
    Json row = {{"name", name_of(who, process)},
                {"pid", or_null(who.pid)},
                {"process", process ? or_null(process->command) : Json()}};
    row.update(process ? recorded_identity(*process) : identity({}));
    row.update({{"cgroup", process ? or_null(process->cgroup) : Json()},
                {"tsgs", std::move(tsgs)},
                {"timeslice_us", std::move(timeslices)},
                {"share_percent", part_of(held.ns - held.saving_ns, whole_ns)},
                {"held_us", microseconds(held.ns)},
                {"saving_us", microseconds(held.saving_ns)},
                {"turns", held.turns},
                {"slice_min_us", length(held.lengths, held.lengths.min())},
                {"slice_median_us", length(held.lengths, held.lengths.quantile(0.5))},
                {"slice_p99_us", length(held.lengths, held.lengths.quantile(0.99))},
                {"slice_max_us", length(held.lengths, held.lengths.max())},
                {"away_median_us", length(held.away, held.away.quantile(0.5))},
                {"away_p99_us", length(held.away, held.away.quantile(0.99))},
                {"away_max_us", length(held.away, held.away.max())}});
    return row;
}

} // namespace

void Totals::clock(std::uint32_t gpu, const ClockReading &reading) {
    const std::uint64_t now = reading.monotonic_ns;
    wall_.try_emplace(gpu, WallClock{now, now}).first->second.last_ns = now;
    error_[gpu].add({reading.gpu_ns, now, reading.within_ns});
    jobs_.clock(gpu, reading.gpu_ns, now);
}

namespace {

using Together = std::map<std::tuple<std::uint32_t, std::uint32_t, std::optional<std::uint64_t>>,
                          Json>; // by GPU, pid and start

Json together_json(const nvdebug::MeasuredJob &job) {
    return percent(job.times ? job.times->together() : std::nullopt);
}

Json job_json(const nvdebug::MeasuredJob &job) {
    Json gpus = Json::array(), processes = Json::array();
    for (const auto &[gpu, process] : job.processes) {
        if (std::ranges::find(gpus, Json(gpu)) == gpus.end())
            gpus.push_back(gpu);
        processes.push_back({{"gpu", gpu}, {"pid", process.pid}});
    }
    const nvdebug::Process &first = job.processes.front().process;
    const Lengths none;
    const Lengths &skews = job.times ? job.times->skews() : none;
    Json row = {{"name", name_of(job)}};
    row.update(identity(nvdebug::identity_of(first)));
    row.update({{"gpus", std::move(gpus)},
                {"processes", std::move(processes)},
                {"together_percent", together_json(job)},
                {"starts", job.times ? Json(skews.count()) : Json()},
                {"skew_median_us", length(skews, skews.quantile(0.5))},
                {"skew_p99_us", length(skews, skews.quantile(0.99))},
                {"skew_max_us", length(skews, skews.max())}});
    return row;
}

} // namespace

Json Totals::clocks() const {
    Json rows = Json::array();
    for (const auto &[gpu, error] : error_) {
        const nvdebug::ClockFit fit = error.fit();
        const auto us = [](const std::optional<std::uint64_t> &ns) {
            return ns ? microseconds(*ns) : Json();
        };
        rows.push_back(
            {{"gpu", gpu},
             {"readings", fit.readings},
             {"within_us", us(fit.within_ns)},
             {"drift_us_per_s",
              fit.drift_ns_per_s ? Json(std::round(*fit.drift_ns_per_s) / 1'000) : Json()},
             {"uneven_us", us(fit.uneven_ns)},
             {"error_us", us(fit.error_ns())}});
    }
    return rows;
}

Json Totals::summary(std::optional<double> cost) const {
    Json jobs = Json::array();
    Together together;
    // The summary changes nothing, and take() begins anew.
    nvdebug::JobMeter measured = jobs_;
    for (const nvdebug::MeasuredJob &job : measured.take()) {
        jobs.push_back(job_json(job));
        for (const auto &[gpu, process] : job.processes)
            together[{gpu, process.pid, process.started}] = together_json(job);
    }
    Json engines = Json::array();
    double longest = 0;
    std::vector<const Lane *> order = order_;
    std::ranges::stable_sort(order, {}, &Lane::gpu);
    for (const Lane *const lane : order) {
        const Engine &engine = engines_.at(lane);
        const bool sampled = lane->means == Lane::Means::samples;
        const std::optional<std::uint64_t> begin = engine.end.begin_ns ? engine.end.begin_ns
                                                                       : engine.first_ns,
                                           end = engine.end.end_ns ? engine.end.end_ns
                                                                   : engine.last_ns;
        const std::uint64_t recorded = begin && end && *end > *begin ? *end - *begin : 0;
        const Tally &tally = engine.tally;
        // If an engine was sampled, only the time between samples is known, which may be none. If
        // the recording was cut off, only its turns are known.
        const std::uint64_t whole =
            sampled ? std::max(engine.end.known_ns, tally.held_ns()) : recorded;
        const std::uint64_t between = sampled ? 0 : tally.switches().sum();
        const std::uint64_t saving = tally.savings().sum();
        const std::uint64_t nobody =
            sampled ? whole - std::min(whole, tally.held_ns()) : tally.nobody_ns();
        const std::uint64_t known =
            sampled ? whole : std::min(whole, tally.held_ns() + between + nobody);
        longest = std::max(longest, static_cast<double>(recorded) / 1e9);
        std::vector<std::pair<std::uint64_t, Json>> rows;
        for (const auto &[who, held] : tally.holders()) {
            const RecordedProcess *const process = processes_.find(lane->gpu, who);
            Json row = holder_json(who, held, process, whole);
            const auto found = sampled
                                   ? together.end()
                                   : together.find({lane->gpu, who.pid.value_or(0), who.started});
            row["together_percent"] = found == together.end() ? Json() : found->second;
            rows.emplace_back(held.ns, std::move(row));
        }
        std::ranges::stable_sort(rows, std::greater{}, &std::pair<std::uint64_t, Json>::first);
        Json holders = Json::array();
        for (auto &[ns, row] : rows)
            holders.push_back(std::move(row));
        engines.push_back(
            {{"gpu", lane->gpu},
             {"engine", lane->engine},
             {"by", sampled ? "samples" : "switches"},
             {"recorded_us", microseconds(recorded)},
             {"held_percent", part_of(tally.held_ns() - saving, whole)},
             {"nobody_percent", part_of(nobody, whole)},
             {"switching_percent", sampled ? Json() : part_of(between + saving, whole)},
             {"unknown_percent", part_of(recorded - std::min(recorded, known), recorded)},
             {"switches", sampled ? Json() : Json(tally.switches().count())},
             {"switch_median_us",
              sampled ? Json() : length(tally.switches(), tally.switches().quantile(0.5))},
             {"switch_p99_us",
              sampled ? Json() : length(tally.switches(), tally.switches().quantile(0.99))},
             {"saving_median_us",
              sampled ? Json() : length(tally.savings(), tally.savings().quantile(0.5))},
             {"lost_switches", sampled ? Json() : Json(engine.lost)},
             {"samples", sampled ? Json(engine.end.samples) : Json()},
             {"missed_samples", sampled ? Json(engine.end.missed) : Json()},
             {"holders", std::move(holders)}});
    }
    double wall = 0;
    for (const auto &[gpu, clock] : wall_)
        if (clock.last_ns > clock.first_ns)
            wall = std::max(wall, static_cast<double>(clock.last_ns - clock.first_ns) / 1e9);
    return {{"time", head_.time},
            {"seconds", longest},
            {"wall_seconds", wall > 0 ? Json(wall) : Json()},
            {"period_us", head_.period_ns ? microseconds(head_.period_ns) : Json()},
            {"turns", turns_},
            {"marks", marks_},
            {"cost_percent", cost ? percent(cost) : Json()},
            {"clocks", clocks()},
            {"jobs", std::move(jobs)},
            {"engines", std::move(engines)}};
}

} // namespace nvdebugctl
