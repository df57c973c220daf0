// SPDX-License-Identifier: MIT OR GPL-2.0
#include "recorder.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <fmt/format.h>

#include "nvdebug/task.hpp"

namespace nvdebugctl {

using nvdebug::EngineState;
using nvdebug::Holder;
using nvdebug::Occupant;
using nvdebug::Result;
using nvdebug::Turn;

namespace {

constexpr std::uint32_t drivers_own = 0xffffffff;
constexpr const char *switched_engine = "GR0"; // the only engine whose switches the driver records

std::uint64_t read_clock(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(now.tv_nsec);
}

} // namespace

// --- the beginning ---

Outcome<std::unique_ptr<Recorder>> Recorder::start(const nvdebug::Gpu &gpu, std::uint64_t period_ns,
                                                   Sink &sink, std::vector<std::string> &notes) {
    std::unique_ptr<Recorder> made(new Recorder(gpu, period_ns, sink));
    std::optional<nvdebug::Error> why;
    if (gpu.tree().source() == nvdebug::Source::driver) {
        auto reader = gpu.follow_switches();
        if (reader) {
            made->reader_ = std::move(*reader);
            made->switched_ = {gpu.index(), switched_engine, Lane::Means::switches};
        } else {
            why = reader.error();
            notes.push_back("switches of GR0 are not recorded, and there are samples alone: " +
                            why->sentence);
        }
    }
    if (period_ns) {
        const auto states = made->states_.read(nvdebug::Detail::brief);
        made->sampled_ = states.has_value();
        if (!states) {
            why = states.error();
            notes.push_back("engines are not sampled: " + why->sentence);
        }
    }
    if (!made->reader_ && !made->sampled_) {
        notes.clear();
        if (!why)
            return fail(nvdebug::ErrorCode::unsupported,
                        fmt::format("there is nothing to record: {} has no record of context "
                                    "switches, and without samples (--rate 0) nothing is left",
                                    gpu.tree().path()));
        return tl::unexpected(Failure(*why));
    }
    return made;
}

std::optional<std::uint64_t> Recorder::gpu_now() {
    // A folder has no clock that runs.
    if (gpu_.tree().source() == nvdebug::Source::file)
        return std::nullopt;
    if (reader_)
        if (const auto ns = reader_->now_ns())
            return *ns;
    const auto ns = gpu_.ptimer_ns();
    return ns ? std::optional(*ns) : std::nullopt;
}

std::optional<std::uint64_t> Recorder::now() {
    const auto ns = gpu_now();
    // Samples that cannot have the GPU's clock get the machine's. Switches have times of their own.
    return ns || reader_ ? ns : std::optional(read_clock(CLOCK_MONOTONIC));
}

void Recorder::begin() {
    note_clocks();
    begin_ns_ = now();
    turns_ = nvdebug::SwitchTurns(begin_ns_);
    if (sampled_ || reader_)
        read_owners();
}

void Recorder::note_clocks() {
    // A busy machine interrupts some readings. On an H100 the best of five was within 5 us.
    constexpr int tries = 5, most_tries = 20;
    constexpr std::uint64_t close_ns = 5'000;
    std::optional<ClockReading> best;
    for (int n = 0; n < tries || (n < most_tries && best->within_ns > close_ns); n++) {
        const std::uint64_t before = read_clock(CLOCK_MONOTONIC);
        const auto ns = gpu_now();
        const std::uint64_t after = read_clock(CLOCK_MONOTONIC);
        if (!ns)
            return;
        const std::uint64_t middle = before + (after - before) / 2;
        // Reads the system's clocks directly after each other, without an access to the GPU between
        // them.
        const std::uint64_t ago = read_clock(CLOCK_MONOTONIC) - middle;
        const ClockReading reading{*ns, middle, read_clock(CLOCK_REALTIME) - ago,
                                   read_clock(CLOCK_BOOTTIME) - ago, (after - before + 1) / 2};
        if (!best || reading.within_ns < best->within_ns)
            best = reading;
    }
    clock_ = best;
    sink_.clock(gpu_.index(), *best);
}

// --- processes ---

const RecordedProcess *Recorder::process(std::uint32_t pid) {
    if (pid == 0 || pid == drivers_own)
        return nullptr;
    const auto [at, fresh] = processes_.try_emplace(pid);
    RecordedProcess &one = at->second;
    if (fresh) {
        // The name can be read only while the process lives.
        const nvdebug::Process now =
            reader_ ? reader_->process(pid) : nvdebug::Process{pid, {}, {}};
        one = {pid, now.command, now.cgroup,  nvdebug::container_of(now),
               {},  0,           now.started, now.launcher};
        new_.insert(pid);
        sink_.process(gpu_.index(), one);
    }
    return &one;
}

/// Finds out whether the pid belongs to another process by now. It does so once in each read of
/// switches.
void Recorder::look_for_successor(std::uint32_t pid) {
    const auto known = processes_.find(pid);
    if (!reader_ || known == processes_.end() || !known->second.started ||
        !looked_at_.insert(pid).second)
        return;
    const auto started = reader_->started(pid);
    if (!started || started == known->second.started)
        return;
    ended_.push_back(processes_.extract(known));
}

void Recorder::look_for_processes() {
    if (!new_.empty())
        read_owners();
}

void Recorder::read_owners() {
    new_.clear();
    if (gpu_.tree().source() != nvdebug::Source::driver)
        return;
    const auto tasks = nvdebug::owners_on_lists(gpu_);
    if (!tasks)
        return;
    owner_.clear();
    for (const nvdebug::Process &each : tasks->owners().processes) {
        look_for_successor(each.pid);
        RecordedProcess fresh{each.pid, each.command, each.cgroup,  nvdebug::container_of(each), {},
                              0,        each.started, each.launcher};
        for (const nvdebug::OwnedTsg &tsg : nvdebug::tsgs_of(tasks->owners(), each.pid)) {
            fresh.channels += tsg.size();
            const nvdebug::RunlistPlace *const place = tasks->place_of(tsg);
            if (!place)
                continue;
            if (place->tsg) {
                owner_[{place->runlist, Occupant::Kind::tsg}][*place->tsg] = each.pid;
                // The list has the exact timeslice; the driver's is in units of 1.024 us.
                fresh.tsgs.push_back(
                    {place->runlist, *place->tsg,
                     place->header ? std::optional(place->header->timeslice_ns) : std::nullopt});
            }
            for (const nvdebug::OwnedChannel *const channel : tsg)
                if (const nvdebug::RunlistPlace *const listed = tasks->place_of(*channel))
                    owner_[{listed->runlist, Occupant::Kind::channel}][listed->channel->id] =
                        each.pid;
        }
        std::ranges::sort(fresh.tsgs, {}, [](const RecordedProcess::Tsg &one) {
            return std::pair(one.runlist, one.id);
        });
        const auto known = processes_.find(each.pid);
        // Turns of this process were emitted without a start, so it must not get one now.
        if (known != processes_.end() && !known->second.started)
            fresh.started.reset();
        if (fresh.channels == 0 || (known != processes_.end() && known->second == fresh))
            continue;
        processes_.insert_or_assign(each.pid, fresh);
        sink_.process(gpu_.index(), fresh);
    }
}

/// Emits the names of living processes again if they changed: a process may run another program by
/// now.
void Recorder::emit_new_names() {
    for (auto &[pid, one] : processes_)
        if (const auto command = reader_ ? reader_->process(pid).command : std::nullopt;
            command && command != one.command) {
            one.command = command;
            sink_.process(gpu_.index(), one);
        }
}

// --- samples ---

Holder Recorder::holder_of(const EngineState &state) const {
    Holder who{.runlist = state.runlist};
    (state.current->kind == Occupant::Kind::tsg ? who.tsg : who.channel) = state.current->id;
    if (state.runlist)
        if (const auto list = owner_.find({*state.runlist, state.current->kind});
            list != owner_.end())
            if (const auto pid = list->second.find(state.current->id); pid != list->second.end())
                who.pid = pid->second;
    return who;
}

void Recorder::add_sample(std::uint64_t ns, const EngineState &state) {
    // The occupant is not known if the chip has no public register for it, or if the register does
    // not answer.
    if (state.status.value_or("unreadable") == "unreadable")
        return;
    const bool is_on = state.current && *state.status == "valid";
    const bool by_switches = is_switched(state.engine);
    if (by_switches) {
        runlist_ = state.runlist;
        if (is_on && state.current->kind == Occupant::Kind::tsg)
            seen_.emplace_back(ns, state.current->id);
    }
    // If more than two samples in a row are missing, the interval counts as unknown.
    constexpr std::uint64_t longest_in_periods = 3;
    auto &engine = engines_[state.engine];
    if (!engine) {
        engine = std::make_unique<SampledEngine>(
            SampledEngine{{gpu_.index(), state.engine, Lane::Means::samples},
                          nvdebug::SampleTurns(longest_in_periods * period_)});
        order_.push_back(state.engine);
    }
    engine->samples++;
    const bool works = is_on && state.busy.value_or(true);
    std::vector<Turn> turns;
    engine->turns.add(ns, works ? std::optional(holder_of(state)) : std::nullopt, turns);
    if (!by_switches)
        emit(engine->lane, turns);
    else if (!any_switch_)
        unswitched_.insert(unswitched_.end(), turns.begin(), turns.end());
}

Result<void> Recorder::sample() {
    if (!sampled_)
        return {};
    const auto before = now();
    const auto states = states_.read(nvdebug::Detail::brief);
    const auto after = now();
    if (!states && states.error().code == nvdebug::ErrorCode::gone)
        return tl::unexpected(states.error());
    if (!states || !before || !after) {
        missed_++;
        return {};
    }
    for (const EngineState &state : *states)
        add_sample(*before + (*after - *before) / 2, state);
    return {};
}

// --- switches ---

bool Recorder::is_switched(const std::string &engine) const {
    return reader_ && engine == switched_engine;
}

void Recorder::settle_tsg(Turn &turn) {
    constexpr std::uint64_t margin_ns = 50'000; // the possible error of a sample's time
    std::optional<std::uint32_t> seen;
    while (!seen_.empty() && seen_.front().first < turn.end_ns) {
        if (seen_.front().first >= turn.begin_ns + margin_ns &&
            seen_.front().first + margin_ns <= turn.end_ns)
            seen = seen_.front().second;
        seen_.pop_front();
    }
    const std::uint32_t pid = turn.who.pid.value_or(0);
    const auto known = processes_.find(pid);
    if (!runlist_ || known == processes_.end())
        return;
    const auto is_its = [&](std::uint32_t id) {
        return std::ranges::any_of(known->second.tsgs, [&](const RecordedProcess::Tsg &tsg) {
            return tsg.runlist == *runlist_ && tsg.id == id;
        });
    };
    const std::pair context{pid, *turn.who.context};
    if (seen && is_its(*seen))
        tsg_of_context_[context] = *seen;
    if (const auto found = tsg_of_context_.find(context); found != tsg_of_context_.end()) {
        turn.who.runlist = runlist_;
        turn.who.tsg = found->second;
    }
}

void Recorder::emit(const Lane &lane, std::vector<Turn> &turns) {
    for (Turn &turn : turns) {
        const RecordedProcess *const who = turn.who.pid ? process(*turn.who.pid) : nullptr;
        if (who)
            turn.who.started = who->started;
        sink_.turn(lane, turn, who);
    }
    turns.clear();
}

void Recorder::emit_switched() {
    for (Turn &turn : found_) {
        look_for_successor(*turn.who.pid);
        process(*turn.who.pid);
        settle_tsg(turn);
    }
    emit(switched_, found_);
}

Result<void> Recorder::read_switches() {
    if (!reader_)
        return {};
    batch_.clear();
    looked_at_.clear();
    const auto dropped = reader_->read(batch_);
    if (!dropped)
        return tl::unexpected(dropped.error());
    for (const nvdebug::ContextSwitch &one : batch_) {
        turns_.add(one, found_);
        last_switch_ = one.ns;
    }
    if (!batch_.empty()) {
        any_switch_ = true;
        unswitched_.clear();
    }
    if (*dropped > dropped_)
        turns_.lose(found_);
    emit_switched();
    if (*dropped > dropped_)
        sink_.lost(switched_, last_switch_, *dropped - dropped_);
    dropped_ = *dropped;
    // Learn the name of a process that has the engine for long, before the process ends.
    if (turns_.now())
        process(*turns_.now()->pid);
    constexpr std::size_t most_seen = 10'000;
    while (seen_.size() > most_seen)
        seen_.pop_front();
    return {};
}

// --- the rest ---

void Recorder::mark(std::uint64_t monotonic_ns, std::uint32_t pid, const std::string &text) {
    if (clock_)
        sink_.mark({gpu_.index(), monotonic_ns - clock_->monotonic_ns + clock_->gpu_ns, pid, text});
    else if (!reader_)
        sink_.mark({gpu_.index(), monotonic_ns, pid, text});
}

Result<void> Recorder::split() {
    note_clocks();
    auto ns = now();
    if (auto read = read_switches(); !read)
        return read;
    if (ns) {
        // Switches that came after the clock was read have been emitted already.
        ns = std::max(*ns, last_switch_);
        turns_.split(*ns, found_);
        emit_switched();
    }
    emit_sampled(false);
    end_interval(ns);
    missed_ = 0;
    begin_ns_ = ns;
    return {};
}

void Recorder::emit_sampled(bool last) {
    for (const std::string &name : order_) {
        SampledEngine &engine = *engines_.at(name);
        std::vector<Turn> turns;
        if (last)
            engine.turns.end(turns);
        else
            engine.turns.split(turns);
        if (!is_switched(name)) {
            emit(engine.lane, turns);
        } else if (!any_switch_) {
            // Without a switch, only samples show the occupant.
            unswitched_.insert(unswitched_.end(), turns.begin(), turns.end());
            emit(engine.lane, unswitched_);
        }
    }
}

void Recorder::end_interval(std::optional<std::uint64_t> ns) {
    for (const std::string &name : order_) {
        SampledEngine &engine = *engines_.at(name);
        const std::uint64_t known = engine.turns.known_ns();
        if (!is_switched(name) || !any_switch_)
            sink_.end(engine.lane,
                      {begin_ns_, ns, engine.samples, missed_, known - engine.emitted_ns});
        engine.emitted_ns = known;
        engine.samples = 0;
    }
    if (reader_ && (any_switch_ || !engines_.contains(switched_engine)))
        sink_.end(switched_, {begin_ns_, ns});
}

void Recorder::end() {
    const auto ns = now();
    turns_.end(ns.value_or(last_switch_), found_);
    emit_switched();
    emit_sampled(true);
    end_interval(ns);
    emit_new_names();
    note_clocks();
}

} // namespace nvdebugctl
