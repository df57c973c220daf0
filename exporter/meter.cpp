// SPDX-License-Identifier: MIT OR GPL-2.0
#include "meter.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <set>

#include "taskset/tasks.hpp"

namespace nvdebug::exporter {
namespace {

constexpr const char *graphics = "GR0"; // the driver records switches of no other
constexpr std::uint32_t drivers_own = 0xffffffff;
/** With more periods than this between two samples it is not known what was between them. */
constexpr std::uint64_t longest_in_periods = 4;

std::uint64_t monotonic_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(now.tv_nsec);
}

/** Also of another user. */
bool lives(std::uint32_t pid) {
    return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH;
}

} // namespace

std::string pod_of(const std::string &cgroup) {
    constexpr std::size_t length = 36;
    for (std::size_t at = 0; (at = cgroup.find("pod", at)) != cgroup.npos; at++) {
        std::string uid = cgroup.substr(at + 3, length);
        std::ranges::replace(uid, '_', '-'); // as systemd's names of slices have it
        const bool fits =
            uid.size() == length && std::ranges::all_of(uid, [&, n = 0u](char c) mutable {
                const bool dash = n == 8 || n == 13 || n == 18 || n == 23;
                n++;
                return dash ? c == '-' : std::isxdigit(static_cast<unsigned char>(c)) != 0;
            });
        if (fits)
            return uid;
    }
    return "";
}

Meter::Meter(Gpu gpu, std::chrono::milliseconds period, const Limits &limits)
    : gpu_(std::move(gpu)),
      period_ns_(static_cast<std::uint64_t>(std::chrono::nanoseconds(period).count())),
      limits_(limits), times_(limits.tasks) {
    facts_.gpu = gpu_.index();
    facts_.trouble = "not looked at yet";
}

/** Also anew, after the GPU had gone. */
void Meter::start() {
    constexpr std::chrono::seconds between_tries{10};
    const auto now = Clock::now();
    if (now < next_start_)
        return;
    next_start_ = now + between_tries;
    reader_.reset();
    const auto info = gpu_.info();
    if (!info) {
        facts_.trouble = info.error().sentence;
        return;
    }
    facts_.chip = info->chip.value_or("");
    facts_.pci_address = info->pci_address.value_or("");
    facts_.source = gpu_.tree().source() == Source::driver   ? "driver"
                    : gpu_.tree().source() == Source::module ? "module"
                                                             : "file";
    if (gpu_.tree().source() == Source::driver)
        if (auto reader = gpu_.follow_switches()) {
            reader_ = std::move(*reader);
            const auto begin = reader_->now_ns();
            switched_ = SwitchTurns(begin ? std::optional(*begin) : std::nullopt);
            dropped_ = 0;
        }
    facts_.has_switches = reader_ != nullptr;
    if (const auto states = gpu_.engine_states(Detail::brief); !states && !reader_) {
        facts_.trouble = states.error().sentence;
        return;
    }
    any_switch_ = false;
    on_gr0_.emplace(longest_in_periods * period_ns_);
    times_.lose();
    facts_.trouble.reset();
    started_ = true;
}

void Meter::step() {
    const std::scoped_lock held(mutex_);
    if (!started_)
        start();
    if (!started_)
        return;
    read_switches();
    sample();
}

void Meter::know(std::uint32_t pid) {
    if (pid == 0 || pid == drivers_own || processes_.contains(pid))
        return;
    // Its name while it lives.
    processes_[pid] = {reader_ ? reader_->process(pid) : Process{pid, {}, {}}, {}};
}

void Meter::add(std::vector<Turn> &turns) {
    for (const Turn &turn : turns) {
        if (turn.who.pid)
            know(*turn.who.pid);
        const auto timeslice = timeslice_ns_.find(turn.who.pid.value_or(0));
        times_.add(turn, any_switch_ && timeslice != timeslice_ns_.end()
                             ? std::optional(timeslice->second)
                             : std::nullopt);
    }
    turns.clear();
}

void Meter::read_switches() {
    if (!reader_)
        return;
    batch_.clear();
    const auto dropped = reader_->read(batch_);
    if (!dropped) {
        facts_.errors++;
        facts_.trouble = dropped.error().sentence;
        started_ = false;
        return;
    }
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
    // Who has it for long is not to be seen only at the end.
    if (batch_.empty() && any_switch_)
        if (const auto now = reader_->now_ns())
            switched_.split(*now, turns);
    add(turns);
}

Holder Meter::holder_of(const EngineState &state) {
    Holder who{.runlist = state.runlist};
    if (state.current->kind != Occupant::Kind::tsg || !state.runlist) {
        who.channel = state.current->id;
        return who;
    }
    who.tsg = state.current->id;
    const std::pair tsg{*state.runlist, *who.tsg};
    if (!owner_.contains(tsg))
        look(limits_.own_look);
    const auto owner = owner_.find(tsg);
    return owner == owner_.end() ? who : Holder{.pid = owner->second};
}

void Meter::sample() {
    const auto states = gpu_.engine_states(Detail::brief);
    if (!states) {
        facts_.errors++;
        if (states.error().code == ErrorCode::gone) {
            facts_.trouble = states.error().sentence;
            started_ = false;
        }
        return;
    }
    const std::uint64_t now = monotonic_ns();
    std::vector<Turn> turns;
    for (const EngineState &state : *states) {
        if (state.status.value_or("unreadable") == "unreadable")
            continue;
        const bool is_on = state.current && *state.status == "valid";
        const bool works = is_on && state.busy.value_or(true);
        auto &engine =
            sampled_.try_emplace(state.engine, longest_in_periods * period_ns_).first->second;
        engine.add(now, works ? std::optional(Holder{}) : std::nullopt, turns);
        engine.split(turns);
        for (const Turn &turn : turns)
            busy_ns_[state.engine] += turn.end_ns - turn.begin_ns;
        turns.clear();
        if (state.engine != graphics || any_switch_)
            continue;
        // Nobody came or went since the start, or nobody writes it down.
        std::optional<Holder> who;
        if (works)
            who = holder_of(state);
        on_gr0_->add(now, who, turns);
        on_gr0_->split(turns);
        add(turns);
    }
}

void Meter::look_at_lists(const Info &info) {
    const auto owners =
        gpu_.tree().source() == Source::module ? Result<Owners>(Owners{}) : gpu_.owners();
    const auto engines = gpu_.engines();
    std::optional<std::uint32_t> of_graphics;
    if (engines)
        for (const Engine &engine : *engines)
            if (engine.name == graphics)
                of_graphics = engine.runlist;
    owner_.clear();
    channels_.clear();
    timeslice_ns_.clear();
    facts_.lists.clear();
    facts_.faulted_channels.reset();
    if (owners) {
        for (const Process &process : owners->processes)
            processes_[process.pid] = {process, {}};
        for (const OwnedChannel &channel : owners->channels)
            channels_[channel.pid]++;
    }
    for (const std::uint32_t id : info.runlists) {
        const auto list = gpu_.runlist(id, Detail::brief);
        if (!list) {
            facts_.errors++;
            continue;
        }
        const auto channels = channels_of(*list);
        facts_.lists.push_back({id, tsgs_of(*list).size(), channels.size()});
        for (const auto &[channel, tsg, entries] : channels) {
            const bool faulted =
                channel->pbdma_faulted.value_or(false) || channel->engine_faulted.value_or(false);
            facts_.faulted_channels = facts_.faulted_channels.value_or(0) + faulted;
            const Process *const owner = owners ? owner_of(*owners, *channel) : nullptr;
            if (!owner || !tsg)
                continue;
            owner_[{id, tsg->id}] = owner->pid;
            if (id == of_graphics)
                timeslice_ns_[owner->pid] = tsg->timeslice_ns;
        }
    }
}

void Meter::look(std::chrono::milliseconds shortest) {
    const auto now = Clock::now();
    if (now - looked_ < shortest && looked_ != Clock::time_point())
        return;
    looked_ = now;
    const auto info = gpu_.info();
    if (!info) {
        facts_.errors++;
        facts_.trouble = info.error().sentence;
        started_ = false;
        return;
    }
    look_at_lists(*info);
}

void Meter::forget_ended() {
    const auto now = Clock::now();
    std::set<std::uint32_t> gone;
    for (auto &[pid, known] : processes_) {
        // Pids of a capture are nobody's any more.
        const bool is_there = gpu_.tree().source() == Source::file || lives(pid);
        if (is_there)
            known.ended.reset();
        else if (!known.ended)
            known.ended = now;
        else if (now - *known.ended > limits_.keep_ended)
            gone.insert(pid);
    }
    times_.forget_if([&](const Holder &who) { return who.pid && gone.contains(*who.pid); });
    std::erase_if(processes_, [&](const auto &known) { return gone.contains(known.first); });
}

TaskFacts Meter::facts_of(const Holder &who, const Times &times) const {
    TaskFacts facts{who.pid, {}, {}, {}, times, {}, {}, {}};
    if (!who.pid) {
        facts.command = (who.tsg ? "TSG " + std::to_string(who.runlist.value_or(0)) + ":" +
                                       std::to_string(*who.tsg)
                                 : "channel " + std::to_string(who.channel.value_or(0)));
        return facts;
    }
    if (*who.pid == drivers_own)
        facts.command = "NVIDIA's driver";
    if (const auto known = processes_.find(*who.pid); known != processes_.end()) {
        const Process &process = known->second.process;
        facts.command = process.command.value_or("");
        facts.container = container_of(process).value_or("");
        facts.pod = pod_of(process.cgroup.value_or(""));
    }
    const auto look_up = [&](const auto &map) {
        const auto found = map.find(*who.pid);
        return found == map.end() ? std::nullopt : std::optional(found->second);
    };
    facts.channels = look_up(channels_);
    facts.timeslice_ns = look_up(timeslice_ns_);
    if (gpu_.tree().source() == Source::driver)
        facts.tpcs = nvtaskset::tpcs_kept_to(static_cast<pid_t>(*who.pid), facts_.pci_address);
    return facts;
}

Facts Meter::facts() {
    const std::scoped_lock held(mutex_);
    if (facts_.trouble)
        return facts_;
    look(limits_.shortest_look);
    if (facts_.trouble)
        return facts_;
    forget_ended();
    facts_.tasks.clear();
    for (const auto &[who, times] : times_.tasks())
        facts_.tasks.push_back(facts_of(who, times));
    // Who has channels and was not on the engine yet.
    for (const auto &[pid, channels] : channels_)
        if (facts_.tasks.size() < limits_.tasks && !times_.tasks().contains(Holder{.pid = pid}))
            facts_.tasks.push_back(facts_of(Holder{.pid = pid}, {}));
    facts_.others = times_.others();
    facts_.switches = times_.switches();
    facts_.engines.clear();
    for (const auto &[name, turns] : sampled_)
        facts_.engines.push_back({name, busy_ns_[name], turns.known_ns()});
    return facts_;
}

} // namespace nvdebug::exporter
