// SPDX-License-Identifier: MIT OR GPL-2.0
#include "meter.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "lib/base/marks.hpp"
#include "lib/partition/tasks.hpp"

namespace nvdebug::exporter {
namespace {

constexpr const char *graphics = "GR0"; // the only engine whose switches the driver records
constexpr std::uint32_t drivers_own = 0xffffffff;
/// If two samples are more periods apart than this, the time between them counts as unknown.
constexpr std::uint64_t longest_in_periods = 4;
/// The driver keeps as many records of switches until they are read.
constexpr std::size_t most_for_jobs = 65'536;

} // namespace

Meter::Meter(Gpu gpu, std::chrono::milliseconds period, const Limits &limits)
    : gpu_(std::move(gpu)), period_(period),
      period_ns_(static_cast<std::uint64_t>(std::chrono::nanoseconds(period).count())),
      limits_(limits), times_(limits.tasks) {
    facts_.gpu = gpu_.index();
    facts_.trouble = "not looked at yet";
}

void Meter::fail(const Error &error) {
    const std::scoped_lock held(mutex_);
    facts_.errors++;
    facts_.trouble = error.sentence;
    started_ = false;
}

/// Opens the GPU, also again after it was gone.
void Meter::start() {
    const auto now = Clock::now();
    if (now < next_start_)
        return;
    next_start_ = now + between_tries(period_);
    {
        const std::scoped_lock held(mutex_);
        reader_.reset();
    }
    const bool by_driver = gpu_.tree().source() == Source::driver;
    const auto info = gpu_.info();
    // Read the owners of TSGs before the first turn needs them.
    if (info && looked_ == Clock::time_point())
        look_now(*info);
    std::shared_ptr<SwitchReader> reader;
    if (info && by_driver)
        if (auto followed = gpu_.follow_switches())
            reader = std::move(*followed);
    const auto begin = reader ? reader->now_ns() : Result<std::uint64_t>(0);
    const auto states = gpu_.engine_states(Detail::brief);

    const std::scoped_lock held(mutex_);
    if (!info || (!states && !reader)) {
        facts_.errors++;
        facts_.trouble = info ? states.error().sentence : info.error().sentence;
        return;
    }
    facts_.chip = info->chip.value_or("");
    facts_.pci_address = info->pci_address.value_or("");
    facts_.source = by_driver                                ? "driver"
                    : gpu_.tree().source() == Source::module ? "module"
                                                             : "file";
    facts_.has_switches = reader != nullptr;
    facts_.foreign_pids = reader && !reader->sees_processes();
    reader_ = std::move(reader);
    if (reader_)
        switched_ = SwitchTurns(begin ? std::optional(*begin) : std::nullopt);
    dropped_ = 0;
    any_switch_ = false;
    on_gr0_.emplace(longest_in_periods * period_ns_);
    times_.lose();
    facts_.trouble.reset();
    forgot_ = now;
    started_ = true;
}

void Meter::step() {
    const std::scoped_lock stepping(step_mutex_);
    const auto is_started = [&] {
        const std::scoped_lock held(mutex_);
        return started_;
    };
    if (!is_started())
        start();
    if (!is_started())
        return;
    read_switches();
    sample();
    const std::scoped_lock held(mutex_);
    if (Clock::now() - forgot_ >= limits_.forgets_every)
        forget_ended();
}

// --- turns ---

void Meter::note_process(std::uint32_t pid) {
    const Holder who{.pid = pid};
    if (pid == 0 || pid == drivers_own || !times_.tasks().contains(who))
        return;
    const auto started = reader_ && is_local() ? reader_->started(pid) : std::nullopt;
    const Process now{pid, {}, {}, {}, started};
    const auto [at, fresh] = known_.try_emplace(who, KnownTask{now});
    if (!fresh && !at->second.process.started)
        at->second.process.started = started;
    at->second.seen = true;
}

/// Removes the times of a pid that another process has by now.
void Meter::forget(const Holder &who) {
    times_.forget_if([&](const Holder &task) { return task == who; });
    known_.erase(who);
}

void Meter::add_now(const Turn &turn) {
    const Holder who = task_of(turn.who);
    const auto timeslice =
        who.pid && is_local() ? timeslice_ns_.find(*who.pid) : timeslice_ns_.end();
    times_.add(turn, any_switch_ && timeslice != timeslice_ns_.end()
                         ? std::optional(timeslice->second)
                         : std::nullopt);
    if (who.pid)
        note_process(*who.pid);
    else if (times_.tasks().contains(who))
        known_[who].seen = true;
}

void Meter::add(std::vector<Turn> &turns) {
    // A pid may have been reused, so the start of its process is checked before times are added up.
    std::set<std::uint32_t> pids;
    for (const Turn &turn : turns)
        if (turn.who.pid && pids.insert(*turn.who.pid).second && reader_ && is_local())
            if (const auto known = known_.find(Holder{.pid = turn.who.pid}); known != known_.end())
                if (const auto started = reader_->started(*turn.who.pid);
                    !same_process(known->second.process, {*turn.who.pid, {}, {}, {}, started})) {
                    channels_.erase(*turn.who.pid);
                    timeslice_ns_.erase(*turn.who.pid);
                    tpcs_.erase(*turn.who.pid);
                    kept_.erase(*turn.who.pid);
                    forget(Holder{.pid = turn.who.pid});
                }
    for (const Turn &turn : turns)
        if (waiting_.empty())
            add_now(turn);
        else
            postpone(turn);
    turns.clear();
}

void Meter::postpone(Turn turn) {
    constexpr std::size_t most = 1024;
    if (waiting_.empty())
        waiting_since_ = Clock::now();
    waiting_.push_back(turn);
    if (waiting_.size() >= most)
        settle_waiting();
}

/// Adds the turns that waited. If the owner of a TSG is still not known, the turn is shown without
/// one.
void Meter::settle_waiting() {
    for (Turn &turn : std::exchange(waiting_, {})) {
        if (!turn.who.pid && turn.who.tsg && turn.who.runlist)
            if (const auto owner = owner_.find({*turn.who.runlist, *turn.who.tsg});
                owner != owner_.end())
                turn.who = Holder{.pid = owner->second.pid};
        add_now(turn);
    }
}

void Meter::read_switches() {
    const std::shared_ptr<SwitchReader> reader = [&] {
        const std::scoped_lock held(mutex_);
        return reader_;
    }();
    if (!reader)
        return;
    batch_.clear();
    const auto dropped = reader->read(batch_);
    if (!dropped)
        return fail(dropped.error());
    read_both_clocks(*reader);
    // A long turn is counted while it lasts, and not only at its end.
    const auto now = batch_.empty() ? reader->now_ns() : Result<std::uint64_t>(0);

    const std::scoped_lock held(mutex_);
    std::vector<Turn> turns;
    for (const ContextSwitch &one : batch_)
        switched_.add(one, turns);
    any_switch_ = any_switch_ || !batch_.empty();
    if (*dropped > dropped_) {
        switched_.lose(turns);
        times_.lose();
        facts_.switches_lost += *dropped - dropped_;
        dropped_ = *dropped;
    }
    if (batch_.empty() && any_switch_ && now)
        switched_.split(*now, turns);
    keep_for_jobs(turns);
    add(turns);
}

/// Reads the GPU's clock and the machine's once a second, because they drift against each other.
void Meter::read_both_clocks(SwitchReader &reader) {
    const auto now = Clock::now();
    if (now < next_clock_)
        return;
    next_clock_ = now + std::chrono::seconds(1);
    const auto readings = read_clocks(reader);
    const std::scoped_lock held(mutex_);
    if (readings && clocks_for_jobs_.size() < most_for_jobs)
        clocks_for_jobs_.push_back(*readings);
}

/// Keeps the turns of processes for pass_turns(). If they are not taken, later ones are left out.
void Meter::keep_for_jobs(const std::vector<Turn> &turns) {
    for (const Turn &turn : turns)
        if (turn.who.pid && *turn.who.pid != 0 && *turn.who.pid != drivers_own &&
            for_jobs_.size() < most_for_jobs)
            for_jobs_.push_back(turn);
}

void Meter::pass_turns(JobMeter &to) {
    const std::scoped_lock held(mutex_);
    for (const ClockReadings &readings : std::exchange(clocks_for_jobs_, {}))
        to.clock(facts_.gpu, readings.gpu_ns, readings.monotonic_ns);
    std::map<std::uint32_t, Process> processes;
    for (Turn &turn : for_jobs_) {
        const auto [at, fresh] = processes.try_emplace(*turn.who.pid);
        if (fresh) {
            const auto known = known_.find(Holder{.pid = turn.who.pid});
            at->second =
                known == known_.end() ? Process{*turn.who.pid, {}, {}} : known->second.process;
            to.process(facts_.gpu, at->second);
        }
        turn.who.started = at->second.started;
        to.turn(facts_.gpu, turn);
    }
    for_jobs_.clear();
}

void Meter::sample_engine(const EngineState &state, std::uint64_t now) {
    if (state.status.value_or("unreadable") == "unreadable")
        return;
    const bool is_on = state.current && *state.status == "valid";
    const bool works = is_on && state.busy.value_or(true);
    auto &engine =
        sampled_.try_emplace(state.engine, longest_in_periods * period_ns_).first->second;
    std::vector<Turn> turns;
    engine.add(now, works ? std::optional(Holder{}) : std::nullopt, turns);
    engine.split(turns);
    for (const Turn &turn : turns)
        busy_ns_[state.engine] += turn.end_ns - turn.begin_ns;
    turns.clear();
    if (state.engine != graphics || any_switch_)
        return;
    // Samples show which TSG is on GR0 as long as no switches are recorded.
    std::optional<Holder> who;
    if (works) {
        who = Holder{.runlist = state.runlist};
        const bool is_tsg = state.current->kind == Occupant::Kind::tsg && state.runlist;
        (is_tsg ? who->tsg : who->channel) = state.current->id;
    }
    on_gr0_->add(now, who, turns);
    on_gr0_->split(turns);
    for (Turn &turn : turns) {
        const Tsg tsg{turn.who.runlist.value_or(0), turn.who.tsg.value_or(0)};
        if (const auto owner = owner_.find(tsg); turn.who.tsg && owner != owner_.end())
            turn.who = Holder{.pid = owner->second.pid};
        else if (turn.who.tsg && gpu_.tree().source() != Source::module && waiting_.empty() &&
                 Clock::now() - looked_ >= limits_.own_look) {
            postpone(turn);
            continue;
        }
        std::vector<Turn> one{turn};
        add(one);
    }
}

void Meter::sample() {
    const auto states = gpu_.engine_states(Detail::brief);
    if (!states && states.error().code == ErrorCode::gone)
        return fail(states.error());
    const std::uint64_t now = base::monotonic_ns();
    const std::scoped_lock held(mutex_);
    if (!states)
        facts_.errors++;
    else
        for (const EngineState &state : *states)
            sample_engine(state, now);
}

// --- looks ---

Meter::LookResult Meter::look_at(const Info &info, const std::vector<std::uint32_t> &unnamed,
                                 const std::shared_ptr<SwitchReader> &reader) const {
    LookResult seen;
    if (gpu_.tree().source() != Source::module) {
        auto owners = gpu_.owners();
        seen.errors += !owners;
        if (owners)
            seen.owners = std::move(*owners);
    }
    if (const auto engines = gpu_.engines())
        for (const Engine &engine : *engines)
            if (engine.name == graphics)
                seen.graphics_list = engine.runlist;
    for (const std::uint32_t id : info.runlists) {
        auto list = gpu_.runlist(id, Detail::brief);
        seen.errors += !list;
        if (list)
            seen.lists.emplace_back(id, std::move(*list));
    }
    for (const std::uint32_t pid : unnamed)
        seen.named[pid] = reader->process(pid);
    if (gpu_.tree().source() == Source::driver) {
        std::set<std::uint32_t> pids;
        if (seen.owners)
            for (const OwnedChannel &channel : seen.owners->channels)
                pids.insert(channel.pid);
        for (const auto &[pid, process] : seen.named)
            if (process.started)
                pids.insert(pid);
        for (const std::uint32_t pid : pids)
            if (const auto keeping =
                    nvtaskset::keeping_of(static_cast<pid_t>(pid), info.pci_address.value_or(""))) {
                if (keeping->tpcs)
                    seen.tpcs[pid] = *keeping->tpcs;
                seen.kept[pid] = keeping->kept;
            }
    }
    return seen;
}

void Meter::look() {
    const std::unique_lock looking(look_mutex_, std::try_to_lock);
    if (!looking)
        return;
    {
        const std::scoped_lock held(mutex_);
        if (facts_.trouble || Clock::now() - looked_ < limits_.shortest_look)
            return;
    }
    if (const auto info = gpu_.info())
        look_now(*info);
    else
        fail(info.error());
}

void Meter::look_now(const Info &info) {
    const auto begin = Clock::now();
    std::vector<std::uint32_t> unnamed;
    std::shared_ptr<SwitchReader> reader;
    {
        const std::scoped_lock held(mutex_);
        reader = reader_;
        if (reader && is_local())
            for (auto &[who, known] : known_)
                if (who.pid && !known.named && !known.ended) {
                    known.tried = true;
                    unnamed.push_back(*who.pid);
                }
    }
    const std::string address = info.pci_address.value_or("");
    const Product product = product_of(gpu_.tree(), info);
    const LookResult seen = look_at(info, unnamed, reader);

    const std::scoped_lock held(mutex_);
    looked_ = begin;
    facts_.chip = info.chip.value_or("");
    facts_.pci_address = address;
    // A sleeping GPU keeps the UUID that was read earlier.
    facts_.uuid = product.uuid.value_or(facts_.uuid);
    facts_.product = product.name.value_or(facts_.product);
    take(seen);
    settle_waiting();
}

void Meter::take(const LookResult &seen) {
    facts_.errors += seen.errors;
    owner_.clear();
    owners_.clear();
    channels_.clear();
    timeslice_ns_.clear();
    tpcs_ = seen.tpcs;
    kept_ = seen.kept;
    facts_.lists.clear();
    facts_.faulted_channels.reset();
    facts_.missing.reset();
    const auto meet = [&](const Process &process) {
        const auto known = known_.find(Holder{.pid = process.pid});
        if (known == known_.end())
            return;
        if (!same_process(known->second.process, process))
            return forget(Holder{.pid = process.pid});
        known->second.process = process;
        known->second.named = known->second.seen = true;
    };
    if (seen.owners) {
        const Owners &owners = *seen.owners;
        facts_.missing = {owners.hidden, owners.denied, owners.cut.size(), owners.cut,
                          owners.lacked};
        for (const Process &process : owners.processes) {
            owners_[process.pid] = process;
            if (is_local())
                meet(process);
        }
        for (const OwnedChannel &channel : owners.channels)
            channels_[channel.pid]++;
    }
    for (const auto &[pid, process] : seen.named)
        if (process.started)
            meet(process);
    for (const auto &[id, list] : seen.lists) {
        const auto channels = channels_of(list);
        facts_.lists.push_back({id, tsgs_of(list).size(), channels.size()});
        for (const auto &[channel, tsg, entries] : channels) {
            const bool faulted =
                channel->pbdma_faulted.value_or(false) || channel->engine_faulted.value_or(false);
            facts_.faulted_channels = facts_.faulted_channels.value_or(0) + faulted;
            const Process *const owner =
                seen.owners ? nvdebug::owner_of(*seen.owners, *channel) : nullptr;
            if (!owner || !tsg)
                continue;
            owner_[{id, tsg->id}] = *owner;
            if (id == seen.graphics_list)
                timeslice_ns_[owner->pid] = tsg->timeslice_ns;
        }
    }
}

bool Meter::needs_look() const {
    const std::scoped_lock held(mutex_);
    return started_ && (!waiting_.empty() || std::ranges::any_of(known_, [&](const auto &known) {
               return known.first.pid && reader_ && is_local() && !known.second.tried;
           }));
}

void Meter::forget_ended() {
    const auto now = Clock::now();
    forgot_ = now;
    std::vector<Holder> gone;
    for (auto &[who, known] : known_) {
        // A capture's pids are not looked up here, because they belong to the machine where the
        // capture was made.
        const bool is_there = (who.pid && gpu_.tree().source() == Source::file) ||
                              (who.pid && reader_ && is_local() && known.process.started &&
                               reader_->started(*who.pid) == known.process.started);
        if (is_there) {
            known.ended.reset();
        } else if (!known.ended || std::exchange(known.seen, false)) {
            known.ended = now;
            known.seen = false;
        } else if (now - *known.ended > limits_.keep_ended) {
            gone.push_back(who);
        }
    }
    for (const Holder &who : gone)
        forget(who);
}

// --- facts ---

const Process *Meter::process_of(const Holder &who) const {
    const auto known = known_.find(who);
    if (known != known_.end() && known->second.named)
        return &known->second.process;
    // A process that had channels at the last look has had its first turn since. Without its name,
    // its series would have other labels until the next look.
    const auto owner = who.pid && is_local() ? owners_.find(*who.pid) : owners_.end();
    return owner != owners_.end() &&
                   (known == known_.end() || same_process(known->second.process, owner->second))
               ? &owner->second
               : nullptr;
}

void Meter::add_lists_facts(TaskFacts &facts, const Process &process) const {
    facts.command = process.command.value_or("");
    facts.id = identity_of(process);
    const auto look_up = [&](const auto &map) {
        const auto found = map.find(process.pid);
        return found == map.end() ? std::nullopt : std::optional(found->second);
    };
    facts.channels = look_up(channels_);
    facts.timeslice_ns = look_up(timeslice_ns_);
    facts.tpcs = look_up(tpcs_);
    facts.kept = look_up(kept_);
}

TaskFacts Meter::facts_of(const Holder &who, const Times &times) const {
    TaskFacts facts{who.pid, {}, {}, times, {}, {}, {}, {}};
    if (!who.pid)
        facts.command = who.tsg ? "TSG " + std::to_string(who.runlist.value_or(0)) + ":" +
                                      std::to_string(*who.tsg)
                                : "channel " + std::to_string(who.channel.value_or(0));
    else if (*who.pid == drivers_own)
        facts.command = "NVIDIA's driver";
    else if (const Process *const process = process_of(who))
        add_lists_facts(facts, *process);
    return facts;
}

TaskFacts Meter::facts_of(const Process &process) const {
    TaskFacts facts{process.pid, {}, {}, {}, {}, {}, {}, {}};
    add_lists_facts(facts, process);
    return facts;
}

Facts Meter::snapshot() {
    Facts facts;
    {
        const std::scoped_lock held(mutex_);
        if (facts_.trouble)
            return facts_;
        forget_ended();
        facts_.tasks.clear();
        for (const auto &[who, times] : times_.tasks())
            facts_.tasks.push_back(facts_of(who, times));
        // Add processes with channels that have not been on the engine yet.
        for (const auto &[pid, process] : owners_)
            if (facts_.tasks.size() < limits_.tasks && channels_.contains(pid) &&
                !(is_local() && times_.tasks().contains(Holder{.pid = pid})))
                facts_.tasks.push_back(facts_of(process));
        facts_.others = times_.others();
        facts_.switches = times_.switches();
        facts_.engines.clear();
        for (const auto &[name, turns] : sampled_)
            facts_.engines.push_back({name, busy_ns_[name], turns.known_ns()});
        facts = facts_;
    }
    return facts;
}

void add_meters(const UsableGpus &usable, std::chrono::milliseconds period,
                const Meter::Limits &limits, Meters &meters) {
    const auto number_of = [](const std::shared_ptr<Meter> &meter) { return meter->gpu(); };
    for (const Gpu &gpu : usable.gpus)
        if (std::ranges::find(meters, gpu.index(), number_of) == meters.end())
            meters.push_back(std::make_shared<Meter>(gpu, period, limits));
    std::ranges::sort(meters, {}, number_of);
}

} // namespace nvdebug::exporter
