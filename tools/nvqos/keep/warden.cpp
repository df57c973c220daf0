// SPDX-License-Identifier: MIT OR GPL-2.0
#include "warden.hpp"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>
#include <functional>
#include <utility>

#include "lib/base/claim.hpp"
#include "lib/base/printable.hpp"
#include "lib/base/quantity.hpp"
#include "lib/base/runtime_folder.hpp"
#include "tools/nvqos/refusal.hpp"

namespace nvqos {

using nvdebug::base::printable;
using qos::Ns;

namespace {

constexpr std::uint32_t drivers_own_pid = 0xffffffff;

/// Clocks that are adjusted may go 0.05 % faster than they should.
Ns monotonic_raw() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return static_cast<Ns>(now.tv_sec) * qos::second + now.tv_nsec;
}

Ns ns_of(std::uint64_t ns) {
    return static_cast<Ns>(ns);
}

std::vector<qos::Goal> goals_of(const Asked &asked) {
    std::vector<qos::Goal> goals;
    for (const Tenant &tenant : asked.tenants)
        goals.push_back(tenant.goal);
    goals.push_back(asked.others);
    return goals;
}

/// Unlike a GPU that is not supported, this one may be as any other later.
bool has_mig_on(const nvdebug::Info &info) {
    const nvdebug::Feature *const lists = info.feature("runlist");
    return lists && !lists->available && lists->reason.find("MIG is on") != std::string::npos;
}

/// Returns an entry without a miss for each tenant.
std::vector<Missed> fresh_missed(const Asked &asked) {
    std::vector<Missed> missed;
    for (const Tenant &tenant : asked.tenants)
        missed.push_back({tenant.name, tenant.goal});
    missed.push_back({"others", asked.others});
    return missed;
}

/// Without any, tasks are left alone.
bool asks_for_something(const Asked &asked) {
    return !asked.tenants.empty() || asked.others != qos::Goal();
}

} // namespace

Warden::Warden(nvdebug::Gpu gpu, const Asked &asked, const Options &options, Warn warn)
    : gpu_(std::move(gpu)), number_(options.index.value_or(gpu_.index())), asked_(asked),
      options_(options), warn_(std::move(warn)),
      sets_timeslices_(qos::takes_timeslices(goals_of(asked))),
      has_goals_(asks_for_something(asked)), marks_(options.marks, number_),
      clock_(options.clock ? options.clock : GpuClock::Local(monotonic_raw)),
      missed_(fresh_missed(asked)), used_(asked.tenants.size() + 1),
      since_(asked.tenants.size() + 1) {
    grow_trees();
}

Outcome<std::unique_ptr<Warden>> Warden::start(nvdebug::Gpu gpu, const Asked &asked,
                                               const Options &options, Warn warn) {
    std::unique_ptr<Warden> warden(new Warden(std::move(gpu), asked, options, std::move(warn)));
    const auto info = warden->gpu_.info();
    if (info && has_mig_on(*info))
        return fail(failed, "MIG is on, and goals are kept on whole GPUs: 'nvidia-smi -i N -mig 0' "
                            "turns it off");
    auto reader = warden->gpu_.follow_switches();
    if (!reader)
        return fail(reader.error());
    warden->reader_ = std::move(*reader);
    if (!warden->reader_->sees_processes())
        return fail(
            not_supported,
            "NVIDIA's driver counts processes as the host does, and this container has numbers "
            "of its own: run nvqos in the host's PID namespace (docker run --pid=host)");
    warden->claim_ = nvdebug::base::claim_shares(nvdebug::base::runtime_folder,
                                                 info ? info->pci_address.value_or("") : "");
    if (!warden->claim_ && !options.dry_run)
        return tl::unexpected(
            Failure{refused,
                    "another nvqos, or 'nvdebugctl task set --share', runs on this GPU: give all "
                    "goals in one, or end it first",
                    true});
    if (!options.dry_run)
        warden->launches_.emplace(info ? info->pci_address.value_or("") : "", options.patience);
    if (const auto engines = warden->gpu_.engines())
        for (const nvdebug::Engine &engine : *engines)
            if (engine.name == "GR0")
                warden->runlist_ = engine.runlist;
    if (auto time = warden->read_clock(); !time)
        return tl::unexpected(time.error());
    if (auto found = warden->find_tasks(); !found)
        return tl::unexpected(found.error());
    // What tasks had while they were found does not count: goals begin now.
    if (auto time = warden->read_clock(); !time)
        return tl::unexpected(time.error());
    warden->turns_ = nvdebug::SwitchTurns(static_cast<std::uint64_t>(warden->now_));
    warden->governor_.emplace(asked.settings, goals_of(asked), warden->now_);
    warden->since_.assign(asked.tenants.size() + 1, warden->now_);
    warden->count_tsgs();
    warden->governor_->step(warden->now_);
    if (const auto refusals = warden->refusals(); !refusals.empty()) {
        if (!options.takes_any_goals)
            return tl::unexpected(Failure{refused, refusals.front(), true});
        warden->warn_once(fmt::format("gpu{}: {}; each is cut until they fit", warden->number_,
                                      refusals.front()));
    }
    warden->marks_.set(asked);
    return warden;
}

Warden::~Warden() {
    let_go();
}

void Warden::let_go() {
    tasks_.clear();
    launches_.reset();
    marks_.set({});
}

std::vector<std::string> Warden::refusals() const {
    return refusals_of(asked_, governor_->entrants());
}

void Warden::warn_once(const std::string &sentence) {
    constexpr std::size_t most = 1000;
    if (warned_.size() < most && warned_.insert(sentence).second)
        warn_(sentence);
}

// --- turns ---

void Warden::take(std::vector<nvdebug::Turn> &turns, bool ends) {
    for (const nvdebug::Turn &turn : turns) {
        const std::uint32_t pid = turn.who.pid.value_or(0), context = turn.who.context.value_or(0);
        if (pid == 0 || pid == drivers_own_pid)
            continue;
        Task &task = task_of(pid);
        task.recorded = true;
        const auto [seen, fresh] = contexts_.try_emplace({pid, context}, 0);
        look_needed_ = look_needed_ || fresh;
        const Ns begin = ns_of(turn.begin_ns);
        Ns end = ns_of(turn.end_ns);
        // The driver may not record that a paused task left the GPU: its turn ends with the pause
        // at the latest.
        if (task.paused_since && seen->second == begin)
            end = std::clamp(*task.paused_since, begin, end);
        seen->second = ns_of(turn.end_ns);
        // What it had before its goal began does not count.
        used_[task.tenant] += std::max<Ns>(0, end - std::max(begin, since_[task.tenant]));
        governor_->add({task.tenant, std::uint64_t{pid} << 32 | context, begin, end, ends});
    }
    turns.clear();
}

Outcome<void> Warden::read_clock() {
    const auto time = clock_.now(*reader_);
    if (!time)
        return fail(time.error());
    now_ = std::max(now_, *time);
    return {};
}

Outcome<void> Warden::read() {
    batch_.clear();
    const auto dropped = reader_->read(batch_);
    if (!dropped)
        return fail(dropped.error());
    for (const nvdebug::ContextSwitch &one : batch_) {
        turns_.add(one, found_);
        last_switch_ = one.ns;
    }
    if (*dropped > lost_) {
        turns_.lose(found_);
        governor_->lose();
        lost_ = *dropped;
        last_switch_ = 0;
        for (auto &[pid, task] : tasks_)
            task.recorded = false;
    }
    take(found_, true);
    // Some switches are later than the reading of the clock.
    now_ = std::max(now_, ns_of(last_switch_));
    turns_.split(static_cast<std::uint64_t>(now_), found_);
    take(found_, false);
    constexpr std::size_t most_contexts = 10'000;
    if (contexts_.size() > most_contexts)
        contexts_.clear();
    return {};
}

// --- what is changed ---

nvdebug::TaskState Warden::wanted(const Task &task) const {
    const qos::Lever &lever = governor_->lever(task.tenant);
    nvdebug::TaskState state{.paused = lever.paused};
    if (sets_timeslices_) {
        std::optional<Ns> previous;
        if (task.asked && task.asked->timeslice_ns)
            previous = ns_of(*task.asked->timeslice_ns);
        state.timeslice_ns =
            static_cast<std::uint64_t>(qos::timeslice_to_ask(lever.timeslice, previous));
    }
    return state;
}

void Warden::apply(Ns now) {
    if (options_.dry_run)
        return;
    const Ns beat = std::chrono::nanoseconds(options_.beat.value_or(options_.patience / 4)).count();
    std::vector<Task *> asked;
    for (auto &[pid, task] : tasks_) {
        if (task.holds.empty())
            continue;
        if (auto shown = show_on_record(task); !shown) {
            lose(task, shown.error());
            continue;
        }
        const nvdebug::TaskState state = wanted(task);
        if (task.asked == state && now - task.asked_at < beat)
            continue;
        if (auto sent = task.ask(state); !sent) {
            lose(task, sent.error());
            continue;
        }
        task.asked = state;
        task.asked_at = now;
        asked.push_back(&task);
    }
    for (Task *const task : asked) {
        if (auto finished = task->finish(); !finished)
            lose(*task, finished.error());
        if (!task->asked || !task->asked->paused)
            task->paused_since.reset();
        else if (!task->paused_since) {
            task->paused_since = std::max(now_, clock_.estimate());
            // What an earlier pause leaves unused stays credit.
            governor_->set_pause(pause_time_.add(*task->paused_since - std::min(due_, now_)));
            marks_.pause(task->tenant);
        }
    }
    keep_launches();
}

Outcome<std::optional<Report>> Warden::step() {
    if (auto time = read_clock(); !time)
        return tl::unexpected(time.error());
    const auto taken = take_found();
    if (!taken)
        return tl::unexpected(taken.error());
    const bool reads = *taken || governor_->needs_turns(now_);
    if (reads && !*taken)
        if (auto looked = read(); !looked)
            return tl::unexpected(looked.error());
    auto epoch = governor_->step(now_, reads);
    // What is recorded of a pause is not use: it is read before the pause is over.
    const bool resumes = std::ranges::any_of(tasks_, [&](const auto &one) {
        return one.second.paused_since && !governor_->lever(one.second.tenant).paused;
    });
    if (!reads && resumes)
        if (auto looked = read(); !looked)
            return tl::unexpected(looked.error());
    std::optional<Report> made;
    if (epoch) {
        judge_launches(*epoch);
        note_missed(*epoch);
        made = report(std::move(*epoch));
    }
    apply(now_);
    begin_search();
    due_ = governor_->due();
    return made;
}

void Warden::note_missed(const qos::EpochRecord &epoch) {
    const std::string now = utc_now();
    for (std::size_t n = 0; n < missed_.size(); n++) {
        missed_[n].add(epoch.tenants[n].kept, now);
        marks_.keep(n, epoch.tenants[n].kept);
    }
    if (!epoch.overcommitted)
        cut_since_.clear();
    else if (cut_since_.empty())
        cut_since_ = now;
}

Ns Warden::wait() {
    const Ns wait =
        GpuClock::time_for(std::max<Ns>(0, governor_->due() - std::max(now_, clock_.estimate())));
    return is_searching() ? std::min(wait, qos::between_looks_at_a_search) : wait;
}

Outcome<void> Warden::set_goals(const Asked &asked) {
    const Asked before = asked_;
    const std::optional<qos::Governor> old = governor_;
    const auto used = used_;
    const auto since = since_;
    const auto missed = missed_, past = past_missed_;
    take_goals(asked);
    const auto refusals = this->refusals();
    if (!refusals.empty()) {
        asked_ = before;
        governor_ = old;
        used_ = used;
        since_ = since;
        missed_ = missed;
        past_missed_ = past;
        grow_trees();
        divide();
        return fail(refused, refusals.front());
    }
    put_levers();
    return {};
}

void Warden::put_goals(const Asked &asked) {
    take_goals(asked);
    put_levers();
}

void Warden::take_goals(const Asked &asked) {
    const std::size_t count = asked.tenants.size() + 1;
    std::vector<std::optional<std::size_t>> was(count);
    for (std::size_t n = 0; n + 1 < count; n++) {
        const auto same = std::ranges::find(asked_.tenants, asked.tenants[n]);
        if (same != asked_.tenants.end())
            was[n] = static_cast<std::size_t>(same - asked_.tenants.begin());
    }
    if (asked.others == asked_.others)
        was.back() = asked_.tenants.size();
    std::vector<Missed> missed = fresh_missed(asked);
    std::vector<Ns> used(count), since(count, now_);
    for (std::size_t n = 0; n < count; n++)
        if (was[n]) {
            missed[n] = std::exchange(missed_[*was[n]], {});
            used[n] = used_[*was[n]];
            since[n] = since_[*was[n]];
        }
    for (const Missed &one : missed_)
        if (one.epochs)
            add_missed(past_missed_, one);
    missed_ = std::move(missed);
    used_ = std::move(used);
    since_ = std::move(since);
    if (asked.settings == asked_.settings)
        governor_->set_goals(goals_of(asked), was, now_);
    else
        governor_.emplace(asked.settings, goals_of(asked), now_);
    asked_ = asked;
    grow_trees();
    divide();
}

/// After other goals were taken.
void Warden::put_levers() {
    marks_.set(asked_);
    sets_timeslices_ = qos::takes_timeslices(goals_of(asked_));
    const bool had_goals = std::exchange(has_goals_, asks_for_something(asked_));
    if (has_goals_ != had_goals) {
        // All tasks are held with the next look, or let go now.
        look_needed_ = true;
        for (auto &[pid, task] : tasks_) {
            task.channels.clear();
            task.is_to_be_held = false;
            task.let_go();
        }
    }
    governor_->step(now_, false);
    apply(now_);
}

std::vector<FamilyUse> Warden::uses() const {
    std::vector<FamilyUse> all;
    for (std::size_t n = 0; n < asked_.tenants.size(); n++)
        if (asked_.tenants[n].family) {
            const Ns time = now_ - since_[n];
            all.push_back({asked_.tenants[n].family,
                           {time, used_[n], qos::part_of(used_[n], time, asked_.settings),
                            governor_->waits(n)}});
        }
    return all;
}

// --- what is shown ---

std::vector<Missed> Warden::missed() const {
    std::vector<Missed> all = past_missed_;
    for (const Missed &one : missed_)
        if (one.epochs)
            add_missed(all, one);
    return all;
}

/// Returns a sentence on promised parts that do not fit: there are more tasks than at the start, or
/// a tenant that is served first takes too much.
std::string Warden::why_cut() const {
    if (const auto refusals = this->refusals(); !refusals.empty())
        return refusals.front();
    return "the promised parts do not fit beside what tenants that are served first take and the "
           "turns of tasks without a promise; ask for smaller parts, or give a cap to what is "
           "served first";
}

/// Clients of an MPS server have no turns of their own.
std::optional<qos::Part> Warden::got_of(std::size_t tenant, const qos::Record &record) const {
    const bool has_tasks =
        std::ranges::any_of(tasks_, [&](const auto &one) { return one.second.tenant == tenant; });
    const bool is_long = now_ - since_[tenant] >= qos::least_for_part(asked_.settings);
    return is_long && record.second.time > 0 && (!has_tasks || held_of(tenant) > 0)
               ? std::optional(qos::scaled(record.second.used, qos::whole, record.second.time))
               : std::nullopt;
}

/// Nothing measures whether a tenant is served first, but the times of its requests.
bool Warden::is_measured(std::size_t tenant, const qos::Record &record) const {
    const bool has_second = record.second.time >= qos::second;
    if (goal_of(tenant).aim != qos::Aim::latency)
        return has_second;
    const auto requests =
        launches_ && goal_of(tenant).p99 ? launches_->requests(tenant) : std::nullopt;
    return has_second && requests && requests->recent > 0;
}

Report Warden::report(qos::EpochRecord epoch) const {
    Report made{number_, std::move(epoch), {}, lost_};
    const auto name_at = [&](std::size_t n) {
        return n < asked_.tenants.size() ? asked_.tenants[n].name : "others";
    };
    for (std::size_t n = 0; n < governor_->entrants().size(); n++) {
        const qos::Entrant &entrant = governor_->entrants()[n];
        made.tenants.push_back(
            {name_at(n),
             entrant.goal,
             made.epoch.tenants[n],
             governor_->credit(n),
             governor_->lever(n),
             static_cast<std::size_t>(std::ranges::count_if(
                 tasks_, [&](const auto &one) { return one.second.tenant == n; })),
             entrant.tsgs,
             missed_[n].epochs,
             governor_->waits(n).count(),
             governor_->waits(n).p99(),
             governor_->waits(n).longest(),
             held_of(n),
             limited_of(n),
             paced_of(n),
             launches_ ? launches_->pace(n) : std::nullopt,
             tpcs_of(n),
             launches_ ? launches_->requests(n) : std::nullopt,
             {},
             got_of(n, made.epoch.tenants[n]),
             is_measured(n, made.epoch.tenants[n])});
    }
    if (made.epoch.overcommitted) {
        made.cut_since = cut_since_;
        made.why_cut = why_cut();
    }
    for (const qos::Dependence &one : qos::dependences(governor_->entrants(), asked_.settings))
        made.tenants[one.tenant].depends.push_back({name_at(one.on), one.why});
    return made;
}

std::vector<std::string> Warden::waits() const {
    std::vector<std::string> sentences;
    for (std::size_t n = 0; n < governor_->entrants().size(); n++) {
        const qos::Waits &waits = governor_->waits(n);
        if (const auto p99 = waits.p99())
            sentences.push_back(fmt::format(
                "gpu{}: {}: of {} waits between turns 99 % took at most {}, the longest {}",
                number_,
                n < asked_.tenants.size() ? printable(asked_.tenants[n].name)
                                          : std::string("others"),
                waits.count(), nvdebug::base::short_time(*p99, " "),
                nvdebug::base::short_time(waits.longest(), " ")));
    }
    return sentences;
}

Report Warden::plan() const {
    qos::EpochRecord epoch{now_, now_, 0, false, {}};
    epoch.tenants.resize(governor_->entrants().size(), {{}, {}, {}, true});
    return report(std::move(epoch));
}

} // namespace nvqos
