// SPDX-License-Identifier: MIT OR GPL-2.0
#include "watched.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <numeric>

#include "lib/base/words.hpp"

namespace simulation {
namespace {

/// The most turns of a GPU that are used. They take at least some minutes.
constexpr std::size_t most_turns = 2'000'000;
/// A scenario has GPUs 0 to 15, and at most 40 jobs.
constexpr std::uint32_t most_seen_gpus = 16;
constexpr std::size_t most_seen_tasks = 40;
/// An entry of a runlist holds no longer timeslice: 255 times 2^25 ns (docs/proc.md).
constexpr std::uint64_t longest_timeslice_ns = std::uint64_t{255} << 25;
/// A task with less than 0.1 % of a GPU is left out, because it hardly changes the other parts.
constexpr Part least_part = qos::point / 10;

Ns ns_of(std::uint64_t ns) {
    return static_cast<Ns>(ns);
}

/// Returns whether a command can stand in WHO=GOAL of a shell without quotes.
bool is_plain(const std::string &command) {
    return !command.empty() && std::ranges::all_of(command, [](unsigned char c) {
        return std::isalnum(c) || c == '_' || c == '.' || c == '-' || c == '+';
    });
}

/// Returns the time that each task held the GPU.
std::map<std::size_t, Ns> held_of(const std::vector<SeenTurn> &turns) {
    std::map<std::size_t, Ns> held;
    for (const SeenTurn &turn : turns)
        held[turn.task] += turn.end - turn.begin;
    return held;
}

} // namespace

void Watched::head(const drawing::RecordingHead &head) {
    for (const drawing::RecordedGpu &gpu : head.gpus)
        gpus_[gpu.index].card = {gpu.chip.value_or(""), gpu.product.value_or("")};
}

void Watched::process(std::uint32_t gpu, const drawing::RecordedProcess &process) {
    processes_.insert_or_assign({gpu, process.pid}, process);
}

std::size_t Watched::task_of(const nvdebug::Turn &turn, const drawing::RecordedProcess *process) {
    const nvdebug::Holder &who = turn.who;
    const bool has_number = who.pid.value_or(0) != 0;
    const Who key{who.pid.value_or(0), who.started, has_number ? 0 : who.context.value_or(0)};
    const auto [at, fresh] = places_.try_emplace(key, tasks_.size());
    if (!fresh)
        return at->second;
    Task task{drawing::name_of(who, process), who.pid, process ? process->command : std::nullopt};
    // Two tasks may have the same name: pids are reused, and a hidden process has none.
    const auto same = std::ranges::count_if(tasks_, [&](const Task &one) {
        return one.name == task.name || one.name.starts_with(task.name + " (");
    });
    if (same > 0)
        task.name += fmt::format(" ({})", same + 1);
    tasks_.push_back(std::move(task));
    return at->second;
}

void Watched::turn(const drawing::Lane &lane, const nvdebug::Turn &turn,
                   const drawing::RecordedProcess *process) {
    if (lane.means == drawing::Lane::Means::samples) {
        has_samples_ = true;
        return;
    }
    Gpu &gpu = gpus_[lane.gpu];
    if (gpu.is_full)
        return;
    // Turns that overlap in a recording count once, so that the parts of tasks add up to the whole.
    const Ns free_since = gpu.turns.empty() ? std::numeric_limits<Ns>::min() : gpu.turns.back().end;
    const Ns begin = std::max(ns_of(turn.begin_ns), free_since);
    const SeenTurn one{task_of(turn, process), begin, std::max(ns_of(turn.end_ns), begin),
                       turn.whole};
    if (gpu.lost_after) {
        gpu.holes.push_back({std::clamp(*gpu.lost_after, free_since, begin), begin});
        gpu.lost_after.reset();
    } else if (!gpu.turns.empty() && turn.gap_ns && begin - free_since > ns_of(*turn.gap_ns)) {
        // A turn between the previous one and this one is missing in the recording.
        gpu.holes.push_back({free_since, begin});
    }
    gpu.turns.push_back(one);
    gpu.contexts[one.task].insert(turn.who.context.value_or(0));
    if (process && !gpu.timeslices.contains(one.task)) {
        std::optional<std::uint32_t> runlist = turn.who.runlist;
        for (const auto &tsg : process->tsgs)
            if (!turn.who.runlist)
                runlist = std::min(runlist.value_or(tsg.runlist), tsg.runlist);
        for (const auto &tsg : process->tsgs)
            if (tsg.runlist == runlist && tsg.timeslice_ns.value_or(0) > 0 &&
                *tsg.timeslice_ns <= longest_timeslice_ns)
                gpu.timeslices[one.task].push_back(ns_of(*tsg.timeslice_ns));
    }
    gpu.is_full = gpu.turns.size() >= most_turns;
}

void Watched::lost(const drawing::Lane &lane, std::uint64_t ns, std::uint64_t count) {
    Gpu &gpu = gpus_[lane.gpu];
    if (gpu.is_full)
        return;
    gpu.lost += count;
    gpu.lost_after = gpu.lost_after.value_or(ns_of(ns));
}

void Watched::end(const drawing::Lane &lane, const drawing::LaneEnd &end) {
    if (lane.means == drawing::Lane::Means::samples) {
        has_samples_ = has_samples_ || end.samples > 0;
        return;
    }
    Gpu &gpu = gpus_[lane.gpu];
    if (end.begin_ns)
        gpu.begin = ns_of(*end.begin_ns);
    if (end.end_ns && !gpu.is_full)
        gpu.end = ns_of(*end.end_ns);
}

/// Returns the GPU for the simulation; empty: fewer than two tasks had turns there.
/// @param small is increased by the number of tasks that are left out for too little time
/// @param surplus is increased by the number of tasks that are left out for too many tasks
std::optional<SeenGpu> Watched::seen_on(std::uint32_t number, const Gpu &gpu, std::size_t &small,
                                        std::size_t &surplus) const {
    if (gpu.turns.empty() || number >= most_seen_gpus)
        return std::nullopt;
    const Ns last = gpu.turns.back().end;
    SeenGpu seen{number,
                 gpu.begin.value_or(gpu.turns.front().begin),
                 std::max(gpu.end.value_or(last), last),
                 {},
                 gpu.holes};
    if (gpu.lost_after && *gpu.lost_after < seen.end)
        seen.holes.push_back({std::max(*gpu.lost_after, last), seen.end});
    for (SeenTurn turn : gpu.turns) {
        // A turn that began before the record counts from the begin of the record on.
        turn.whole = turn.whole && turn.begin >= seen.begin;
        turn.begin = std::max(turn.begin, seen.begin);
        if (turn.end > turn.begin)
            seen.turns.push_back(turn);
    }
    const Ns least = qos::scaled(seen.known(), least_part, qos::whole);
    std::vector<std::pair<qos::Ns, std::size_t>> by_time;
    for (const auto &[task, time] : held_of(seen.turns))
        by_time.emplace_back(time, task);
    std::ranges::sort(by_time, std::greater());
    std::set<std::size_t> kept;
    for (const auto &[time, task] : by_time) {
        if (time <= least)
            small++;
        else if (kept.size() < most_seen_tasks)
            kept.insert(task);
        else
            surplus++;
    }
    if (kept.size() < 2)
        return std::nullopt;
    std::erase_if(seen.turns, [&](const SeenTurn &turn) { return !kept.contains(turn.task); });
    for (const std::size_t task : kept) {
        const auto found = gpu.timeslices.find(task);
        if (found == gpu.timeslices.end())
            continue;
        std::vector<Ns> slices = found->second;
        std::ranges::sort(slices, std::greater());
        // Each context of a process has turns of its own. They count as one task here, whose
        // timeslice is the sum of theirs.
        slices.resize(std::min(slices.size(), gpu.contexts.at(task).size()));
        seen.timeslices[task] = std::accumulate(slices.begin(), slices.end(), Ns{0});
    }
    return seen;
}

std::string Watched::why_none(const std::string &source) const {
    const bool has_turns =
        std::ranges::any_of(gpus_, [](const auto &one) { return !one.second.turns.empty(); });
    if (!has_turns && has_samples_)
        return fmt::format("there are samples alone in {}, and when turns began and ended "
                           "shows in switches: record them through NVIDIA's driver, as "
                           "'sudo nvdebugctl record --for 10s -o run.ndjson' does",
                           source);
    if (!has_turns)
        return fmt::format("no task had a turn on a GPU in {}: start the tasks first, and "
                           "see 'nvdebugctl task list'",
                           source);
    if (gpus_.rbegin()->first >= most_seen_gpus && std::ranges::all_of(gpus_, [](const auto &one) {
            return one.second.turns.empty() || one.first >= most_seen_gpus;
        }))
        return fmt::format("the turns in {} are of gpu{}, and only gpu0 to gpu15 are taken", source,
                           gpus_.rbegin()->first);
    for (const auto &[number, gpu] : gpus_) {
        const auto held = held_of(gpu.turns);
        if (held.empty())
            continue;
        const auto most =
            std::ranges::max_element(held, {}, [](const auto &one) { return one.second; });
        return fmt::format("{} was alone on gpu{} in {}, and only turns of several tasks show when "
                           "each had work: let the others run, too",
                           tasks_[most->first].name, number, source);
    }
    return "";
}

std::vector<std::string> Watched::notes_on(const std::set<std::uint32_t> &numbers,
                                           std::size_t small, std::size_t surplus) const {
    std::vector<std::string> notes;
    for (const auto &[number, gpu] : gpus_) {
        if (!gpu.turns.empty() && !numbers.contains(number))
            notes.push_back(
                fmt::format("gpu{} is left out, as no two tasks had turns there", number));
        if (!numbers.contains(number))
            continue;
        if (!gpu.holes.empty() || gpu.lost) {
            Ns time = 0;
            for (const SeenGpu::Hole &hole : gpu.holes)
                time += hole.end - hole.begin;
            const std::size_t places = std::max<std::size_t>(gpu.holes.size(), 1);
            notes.push_back(fmt::format("turns on gpu{} are missing in {}, and {} {:.0f} ms are "
                                        "left out",
                                        number, nvdebug::base::counted(places, "place", "places"),
                                        places == 1 ? "its" : "their", qos::milliseconds(time)));
        }
        if (gpu.is_full)
            notes.push_back(
                fmt::format("only the first {} turns on gpu{} are used", most_turns, number));
    }
    if (small)
        notes.push_back(fmt::format("{} with less than 0.1 % of a GPU {} left out",
                                    nvdebug::base::counted(small, "task", "tasks"),
                                    small == 1 ? "is" : "are"));
    if (surplus)
        notes.push_back(fmt::format("{} beyond the {} with the most time {} left out",
                                    nvdebug::base::counted(surplus, "task", "tasks"),
                                    most_seen_tasks, surplus == 1 ? "is" : "are"));
    return notes;
}

tl::expected<Sighting, std::string> Watched::sighting(const std::string &source) const {
    Sighting sighting;
    std::size_t small = 0, surplus = 0;
    std::set<std::uint32_t> numbers;
    for (const auto &[number, gpu] : gpus_)
        if (auto seen = seen_on(number, gpu, small, surplus)) {
            numbers.insert(number);
            sighting.length = std::max(sighting.length, seen->end - seen->begin);
            sighting.seen.gpus.push_back(std::move(*seen));
            sighting.cards.push_back(gpu.card);
        }
    if (sighting.seen.gpus.empty())
        return tl::unexpected(why_none(source));
    // Number the remaining tasks without gaps, the task with the most time first.
    std::map<std::size_t, Ns> held;
    for (const SeenGpu &gpu : sighting.seen.gpus)
        for (const auto &[task, time] : held_of(gpu.turns))
            held[task] += time;
    std::vector<std::size_t> order;
    for (const auto &[task, time] : held)
        order.push_back(task);
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t task) { return held[task]; });
    if (order.size() > most_seen_tasks)
        return tl::unexpected(
            fmt::format("{} tasks had turns in {}, and {} are taken at most: choose GPUs with "
                        "--gpu, of 'nvqos advise' or of 'nvdebugctl record'",
                        order.size(), source, most_seen_tasks));
    std::map<std::size_t, std::size_t> place;
    for (const std::size_t task : order) {
        place.emplace(task, place.size());
        const Task &one = tasks_[task];
        sighting.seen.tasks.push_back(one.name);
        const bool is_only = std::ranges::count_if(order, [&](std::size_t other) {
                                 return tasks_[other].command == one.command;
                             }) == 1;
        sighting.who.push_back(
            one.command && is_plain(*one.command) && is_only     ? "command:" + *one.command
            : one.pid.value_or(0) != 0 && *one.pid != 0xffffffff ? std::to_string(*one.pid)
                                                                 : "");
    }
    for (SeenGpu &gpu : sighting.seen.gpus) {
        for (SeenTurn &turn : gpu.turns)
            turn.task = place[turn.task];
        std::map<std::size_t, Ns> timeslices;
        for (const auto &[task, time] : gpu.timeslices)
            timeslices[place[task]] = time;
        gpu.timeslices = std::move(timeslices);
    }
    sighting.notes = notes_on(numbers, small, surplus);
    return sighting;
}

} // namespace simulation
