// SPDX-License-Identifier: MIT OR GPL-2.0
#include "nvdebug/jobs.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "nvdebug/identity.hpp"

namespace nvdebug {

// --- clocks ---

namespace {

std::uint64_t monotonic_now() {
    return static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

} // namespace

Result<ClockReadings> read_clocks(SwitchReader &reader) {
    constexpr int tries = 5;
    std::optional<ClockReadings> best;
    for (int n = 0; n < tries; n++) {
        const std::uint64_t before = monotonic_now();
        const auto gpu_ns = reader.now_ns();
        const std::uint64_t half = (monotonic_now() - before + 1) / 2;
        if (!gpu_ns)
            return tl::unexpected(gpu_ns.error());
        if (!best || half < best->within_ns)
            best = {*gpu_ns, before + half, half};
    }
    return *best;
}

void ClockMap::add(std::uint64_t gpu_ns, std::uint64_t monotonic_ns) {
    if (readings_.empty() ||
        (gpu_ns > readings_.rbegin()->first && monotonic_ns >= readings_.rbegin()->second))
        readings_.emplace_hint(readings_.end(), gpu_ns, monotonic_ns);
}

void ClockMap::forget_before(std::uint64_t gpu_ns) {
    const auto next = readings_.upper_bound(gpu_ns);
    if (next != readings_.begin())
        readings_.erase(readings_.begin(), std::prev(next));
}

std::optional<std::uint64_t> ClockMap::monotonic_ns(std::uint64_t gpu_ns) const {
    if (readings_.empty())
        return std::nullopt;
    const auto after = readings_.upper_bound(gpu_ns);
    const auto from = after == readings_.begin() ? after : std::prev(after);
    // Differences wrap around, so that a time before the first reading needs no case of its own.
    const std::uint64_t since = gpu_ns - from->first, plain = from->second + since;
    if (after == readings_.begin() || after == readings_.end())
        return plain;
    const std::uint64_t length = after->first - from->first;
    const double drift =
        static_cast<double>(after->second - from->second) - static_cast<double>(length);
    return plain + static_cast<std::uint64_t>(static_cast<std::int64_t>(
                       drift * static_cast<double>(since) / static_cast<double>(length)));
}

void ClockError::add(const ClockReadings &reading) {
    if (last_ && (reading.gpu_ns <= last_->gpu_ns || reading.monotonic_ns < last_->monotonic_ns))
        return;
    if (!first_)
        first_ = reading;
    if (last_)
        longest_ns_ = std::max(longest_ns_, reading.gpu_ns - last_->gpu_ns);
    if (previous_)
        compare(*previous_, *last_, reading);
    readings_++;
    within_ns_ = std::max(within_ns_, reading.within_ns);
    previous_ = std::exchange(last_, reading);
}

void ClockError::compare(const ClockReadings &before, const ClockReadings &middle,
                         const ClockReadings &after) {
    // A reading close to one of its neighbours shows its own error rather than a bend.
    constexpr double even = 1.25;
    const auto left = static_cast<double>(middle.gpu_ns - before.gpu_ns),
               right = static_cast<double>(after.gpu_ns - middle.gpu_ns);
    if (std::max(left, right) > even * std::min(left, right))
        return;
    const double whole = static_cast<double>(after.monotonic_ns - before.monotonic_ns);
    const double off = static_cast<double>(middle.monotonic_ns - before.monotonic_ns) -
                       whole * left / (left + right);
    const double hidden =
        static_cast<double>(middle.within_ns) + (static_cast<double>(before.within_ns) * right +
                                                 static_cast<double>(after.within_ns) * left) /
                                                    (left + right);
    // With a steady change of the drift, a clock is BEND * t * t off a straight line.
    const double bend = (std::abs(off) + hidden) / (left * right);
    bend_ = std::max(bend_.value_or(0), bend);
}

ClockFit ClockError::fit() const {
    ClockFit fit{readings_, within_ns_};
    if (readings_ < 2)
        return fit;
    const auto gpu = static_cast<double>(last_->gpu_ns - first_->gpu_ns),
               monotonic = static_cast<double>(last_->monotonic_ns - first_->monotonic_ns);
    fit.drift_ns_per_s = (monotonic - gpu) / gpu * 1e9;
    if (bend_) {
        const double half = static_cast<double>(longest_ns_) / 2;
        fit.uneven_ns = static_cast<std::uint64_t>(std::ceil(*bend_ * half * half));
    }
    return fit;
}

// --- the processes of a job ---

namespace {

using Numbers = std::vector<std::size_t>;

/// A process and its GPUs.
struct WholeProcess {
    Numbers numbers; ///< in the list that was given
    std::set<std::uint32_t> gpus;
    const Process *process;
    Identity id;
};
using WholeProcesses = std::vector<const WholeProcess *>;

bool have_gpus_of_their_own(const WholeProcesses &group) {
    std::set<std::uint32_t> all;
    std::size_t sum = 0;
    for (const WholeProcess *const one : group) {
        all.insert(one->gpus.begin(), one->gpus.end());
        sum += one->gpus.size();
    }
    return all.size() == sum;
}

bool is_mps_server(const Process &process) {
    return process.command && process.command->starts_with("nvidia-cuda-mps");
}

std::string step_of(const WholeProcess &one) {
    const bool is_of_tasks = one.id.step && !one.id.step->empty() &&
                             one.id.step->find_first_not_of("0123456789") == std::string::npos;
    return one.id.job && is_of_tasks ? *one.id.job + "." + *one.id.step : std::string();
}

std::string container_of_job(const WholeProcess &one) {
    return one.id.container.value_or("");
}

/// Returns whether no two of the processes have launchers that differ. A launcher may be one of them.
bool have_one_launcher(const WholeProcesses &group) {
    std::set<std::uint32_t> launchers;
    for (const WholeProcess *const one : group)
        if (one->process->launcher)
            launchers.insert(*one->process->launcher);
    return launchers.size() <= 1;
}

using Jobs = std::vector<WholeProcesses>;

/// Adds the processes of one launcher. The ones that were started together are a job.
/// @param launcher the launcher, if it has turns on a GPU itself, as a program that forks its ranks
void add_by_start(WholeProcesses group, const WholeProcess *launcher, Jobs &jobs) {
    constexpr std::uint64_t ticks = 10 * 100; // USER_HZ is 100 on all architectures of this project
    std::ranges::sort(group, {}, [](const WholeProcess *one) { return one->process->started; });
    for (auto from = group.begin(); from != group.end();) {
        const std::uint64_t first = *(*from)->process->started;
        const auto end = std::find_if(from, group.end(), [&](const WholeProcess *one) {
            return *one->process->started - first > ticks;
        });
        WholeProcesses started(from, end);
        if (launcher && started.size() == group.size())
            started.push_back(std::exchange(launcher, nullptr));
        if (have_gpus_of_their_own(started))
            jobs.push_back(std::move(started));
        else
            for (const WholeProcess *const one : started)
                jobs.push_back({one});
        from = end;
    }
    if (launcher)
        jobs.push_back({launcher});
}

/// Adds the jobs of processes by their launchers.
void add_by_launcher(const WholeProcesses &processes, Jobs &jobs) {
    std::map<std::uint32_t, WholeProcesses> launched;
    for (const WholeProcess *const one : processes)
        if (one->process->launcher && one->process->started)
            launched[*one->process->launcher].push_back(one);
    std::map<std::uint32_t, const WholeProcess *> launchers;
    for (const WholeProcess *const one : processes)
        if (one->process->launcher && one->process->started)
            continue;
        else if (launched.contains(one->process->pid))
            launchers[one->process->pid] = one;
        else
            jobs.push_back({one});
    for (auto &[pid, group] : launched)
        add_by_start(std::move(group), launchers[pid], jobs);
}

/// A rule for processes that belong together.
struct JobRule {
    /// Returns the name of what the processes of a job share; empty: the rule is not for the process.
    std::string (*shared)(const WholeProcess &);
    bool asks_launchers; ///< processes of several launchers are several jobs
};
constexpr JobRule job_rules[] = {{step_of, false}, {container_of_job, true}};

/// Adds the jobs of processes by the rules from @p rule on, and by their launchers at last.
void add_jobs(const WholeProcesses &processes, std::size_t rule, Jobs &jobs) {
    if (rule == std::size(job_rules))
        return add_by_launcher(processes, jobs);
    std::map<std::string, WholeProcesses> groups;
    for (const WholeProcess *const one : processes)
        groups[job_rules[rule].shared(*one)].push_back(one);
    for (auto &[shared, group] : groups)
        if (!shared.empty() && have_gpus_of_their_own(group) &&
            (!job_rules[rule].asks_launchers || have_one_launcher(group)))
            jobs.push_back(std::move(group));
        else
            add_jobs(group, rule + 1, jobs);
}

} // namespace

std::vector<Numbers> jobs_on_several_gpus(const std::vector<JobProcess> &processes) {
    std::map<std::pair<std::uint32_t, std::optional<std::uint64_t>>, WholeProcess> whole;
    for (std::size_t n = 0; n < processes.size(); n++) {
        const Process &process = processes[n].process;
        if (is_mps_server(process))
            continue;
        const auto [at, fresh] = whole.try_emplace({process.pid, process.started});
        if (fresh)
            at->second = {{}, {}, &process, identity_of(process)};
        at->second.numbers.push_back(n);
        at->second.gpus.insert(processes[n].gpu);
    }
    WholeProcesses all;
    for (const auto &[key, one] : whole)
        all.push_back(&one);
    Jobs jobs;
    add_jobs(all, 0, jobs);
    std::vector<Numbers> found;
    for (const WholeProcesses &job : jobs) {
        Numbers numbers;
        std::set<std::uint32_t> gpus;
        for (const WholeProcess *const one : job) {
            numbers.insert(numbers.end(), one->numbers.begin(), one->numbers.end());
            gpus.insert(one->gpus.begin(), one->gpus.end());
        }
        if (gpus.size() < 2)
            continue;
        std::ranges::sort(numbers);
        found.push_back(std::move(numbers));
    }
    std::ranges::sort(found);
    return found;
}

// --- how their turns overlap ---

void JobTimes::add(const std::vector<std::vector<JobTurn>> &ranks) {
    if (ranks.empty())
        return;
    for (const auto &turns : ranks)
        for (const JobTurn &turn : turns)
            used_ns_ += static_cast<double>(turn.end_ns - turn.begin_ns);
    std::vector<std::size_t> at(ranks.size()), counted(ranks.size()); // counted: numbers from 1
    for (;;) {
        std::uint64_t first_begin = std::numeric_limits<std::uint64_t>::max(), begin = 0,
                      end = std::numeric_limits<std::uint64_t>::max();
        std::size_t first_to_end = 0;
        bool begins_anew = true;
        for (std::size_t n = 0; n < ranks.size(); n++) {
            if (at[n] == ranks[n].size())
                return;
            const JobTurn &turn = ranks[n][at[n]];
            first_begin = std::min(first_begin, turn.begin_ns);
            begin = std::max(begin, turn.begin_ns);
            begins_anew = begins_anew && turn.whole && counted[n] <= at[n];
            if (turn.end_ns < end) {
                end = turn.end_ns;
                first_to_end = n;
            }
        }
        if (begin < end) {
            together_ns_ += end - begin;
            together_of_ranks_ns_ +=
                static_cast<double>(end - begin) * static_cast<double>(ranks.size());
            if (begins_anew) {
                skews_.add(begin - first_begin);
                for (std::size_t n = 0; n < ranks.size(); n++)
                    counted[n] = at[n] + 1;
            }
        }
        at[first_to_end]++;
    }
}

std::optional<double> JobTimes::together() const {
    return used_ns_ > 0 ? std::optional(std::min(1.0, together_of_ranks_ns_ / used_ns_))
                        : std::nullopt;
}

// --- a machine ---

void JobMeter::clock(std::uint32_t gpu, std::uint64_t gpu_ns, std::uint64_t monotonic_ns) {
    clocks_[gpu].add(gpu_ns, monotonic_ns);
}

void JobMeter::process(std::uint32_t gpu, const Process &process) {
    processes_.insert_or_assign({gpu, process.pid, process.started}, process);
}

void JobMeter::turn(std::uint32_t gpu, const Turn &turn) {
    const auto process =
        turn.who.pid ? processes_.find({gpu, *turn.who.pid, turn.who.started}) : processes_.end();
    last_ns_[gpu] = turn.end_ns;
    if (process == processes_.end() || turn.end_ns <= turn.begin_ns)
        return;
    turns_[process->first].push_back({turn.begin_ns, turn.end_ns, turn.whole});
    if (++pending_ < most_pending_)
        return;
    settle(known_until());
    // A GPU without turns, or without a clock, holds up the others no longer.
    if (pending_ > most_pending_ / 2)
        settle(std::numeric_limits<std::uint64_t>::max());
}

std::uint64_t JobMeter::known_until() const {
    std::uint64_t until = std::numeric_limits<std::uint64_t>::max();
    for (const auto &[gpu, ns] : last_ns_)
        if (const auto clock = clocks_.find(gpu); clock != clocks_.end())
            until = std::min(until, clock->second.monotonic_ns(ns).value_or(until));
    return until;
}

namespace {

/// Takes the turns that ended by a time out of @p turns, and returns them by CLOCK_MONOTONIC. A turn
/// that goes on is cut there.
std::vector<JobTurn> taken_until(std::vector<JobTurn> &turns, const ClockMap &clock,
                                 std::uint64_t until_ns) {
    std::vector<JobTurn> taken, left;
    for (const JobTurn &turn : turns) {
        JobTurn by_host{*clock.monotonic_ns(turn.begin_ns), *clock.monotonic_ns(turn.end_ns),
                        turn.whole};
        if (by_host.begin_ns >= until_ns) {
            left.push_back(turn);
        } else if (by_host.end_ns > until_ns) {
            const std::uint64_t rest = by_host.end_ns - until_ns;
            left.push_back(
                {turn.end_ns - std::min(rest, turn.end_ns - turn.begin_ns), turn.end_ns, false});
            taken.push_back({by_host.begin_ns, until_ns, false});
        } else {
            taken.push_back(by_host);
        }
    }
    turns = std::move(left);
    return taken;
}

} // namespace

void JobMeter::settle(std::uint64_t until_ns) {
    std::vector<JobProcess> all;
    std::vector<Key> keys;
    for (const auto &[key, turns] : turns_) {
        all.push_back({std::get<0>(key), processes_.at(key)});
        keys.push_back(key);
    }
    for (const auto &numbers : jobs_on_several_gpus(all)) {
        MeasuredJob &job =
            found_.try_emplace(keys[numbers[0]], MeasuredJob{{}, JobTimes()}).first->second;
        job.processes.clear();
        std::vector<std::vector<JobTurn>> ranks;
        for (const std::size_t n : numbers) {
            job.processes.push_back(all[n]);
            const auto clock = clocks_.find(all[n].gpu);
            if (clock == clocks_.end())
                job.times.reset();
            else
                ranks.push_back(taken_until(turns_.at(keys[n]), clock->second, until_ns));
        }
        if (job.times)
            job.times->add(ranks);
    }
    // The other turns belong to no job, or go on.
    pending_ = 0;
    for (auto &[key, turns] : turns_) {
        const auto clock = clocks_.find(std::get<0>(key));
        if (clock == clocks_.end())
            turns.clear();
        else
            taken_until(turns, clock->second, until_ns);
        pending_ += turns.size();
    }
    for (auto &[gpu, clock] : clocks_) {
        std::uint64_t oldest = last_ns_[gpu];
        for (const auto &[key, turns] : turns_)
            if (std::get<0>(key) == gpu && !turns.empty())
                oldest = std::min(oldest, turns.front().begin_ns);
        clock.forget_before(oldest);
    }
}

std::vector<MeasuredJob> JobMeter::take() {
    settle(std::numeric_limits<std::uint64_t>::max());
    std::vector<MeasuredJob> jobs;
    for (auto &[key, job] : found_)
        jobs.push_back(std::move(job));
    found_.clear();
    std::erase_if(processes_, [&](const auto &process) { return !turns_.contains(process.first); });
    turns_.clear();
    return jobs;
}

} // namespace nvdebug
