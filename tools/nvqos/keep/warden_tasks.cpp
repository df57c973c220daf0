// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Which tasks there are, and which tenant's, and how they are held. They are searched for in
/// another thread: while processes start or end, a request to the driver took up to 40 ms on an
/// H200, and a search takes hundreds.
#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <numeric>
#include <utility>

#include "lib/base/printable.hpp"
#include "lib/partition/tasks.hpp"
#include "warden.hpp"

namespace nvqos {

using nvdebug::base::printable;
using qos::Ns;

namespace {

/// Warden::Options::longest_unlooked, under MPS.
constexpr Ns look_for_clients = 5 * qos::second;
/// What Linux has of the name of MPS' server and of its control daemon.
constexpr std::string_view mps = "nvidia-cuda-mps";
/// Of a task: for each there is a process. With more, it is let go and held anew.
constexpr std::size_t most_holds = 8;
/// Tasks that are held at once: levers of these are set before others are held.
constexpr std::size_t holds_at_once = 64;

/// What a thread found, once; empty: it is at work, or there is none.
template <typename Found>
std::optional<Found> result_of(std::future<Found> &search) {
    if (!search.valid() || search.wait_for(std::chrono::seconds(0)) == std::future_status::timeout)
        return std::nullopt;
    return search.get();
}

/// Returns whether @p all has each of @p some.
bool is_among(std::vector<nvdebug::HeldChannel> some, std::vector<nvdebug::HeldChannel> all) {
    std::ranges::sort(some);
    std::ranges::sort(all);
    return std::ranges::includes(all, some);
}

std::string name_of(const nvdebug::Process &process) {
    return fmt::format("{}[{}]", printable(process.command.value_or("process")), process.pid);
}

} // namespace

nvdebug::Result<void> Warden::Task::ask(const nvdebug::TaskState &state) {
    for (const auto &hold : holds)
        if (auto sent = hold->ask(state); !sent)
            return sent;
    return {};
}

nvdebug::Result<void> Warden::Task::finish() {
    for (const auto &hold : holds)
        if (auto finished = hold->finish(); !finished)
            return finished;
    return {};
}

void Warden::Task::drop_empty_holds() {
    std::erase_if(holds, [&](const auto &hold) {
        return std::ranges::find_first_of(hold->channels(), channels) == hold->channels().end();
    });
}

std::size_t Warden::Task::tsgs() const {
    return std::transform_reduce(holds.begin(), holds.end(), std::size_t{0}, std::plus(),
                                 [](const auto &hold) { return hold->tsgs(); });
}

std::vector<nvdebug::HeldChannel> Warden::Task::held() const {
    std::vector<nvdebug::HeldChannel> all;
    for (const auto &hold : holds)
        all.insert(all.end(), hold->channels().begin(), hold->channels().end());
    return all;
}

std::size_t Warden::tenant_of(const nvdebug::Process &process) const {
    for (std::size_t n = 0; n < asked_.tenants.size(); n++) {
        const Selector &who = asked_.tenants[n].who;
        const auto meant = who.pid ? meant_.find(*who.pid) : meant_.end();
        // The pid of a process that has ended may have been reused.
        if (meant != meant_.end() && process.started != meant->second)
            continue;
        if (fits(asked_.tenants[n], process, trees_))
            return n;
    }
    return asked_.tenants.size();
}

Warden::Task &Warden::task_of(std::uint32_t pid) {
    const auto [at, fresh] = tasks_.try_emplace(pid);
    Task &task = at->second;
    if (fresh) {
        // One read: what else there is about it, a search finds, which has no deadline.
        task.process = {pid, {}, {}, {}, reader_->started(pid)};
        task.tenant = tenant_of(task.process);
        look_needed_ = look_needed_ || !passed_over_.contains(pid);
    }
    return task;
}

void Warden::divide() {
    for (auto &[pid, task] : tasks_)
        task.tenant = tenant_of(task.process);
    count_tsgs();
}

void Warden::count_tsgs() {
    if (!governor_)
        return; // start() does, once there is one
    std::vector<std::int64_t> turns(asked_.tenants.size() + 1);
    for (const auto &[pid, task] : tasks_) {
        if (task.is_gone)
            continue;
        // Without runlists it is unknown which TSGs are of GR0; a process mostly has one there.
        const std::size_t tsgs = task.holds.empty() ? 1 : task.tsgs();
        turns[task.tenant] +=
            static_cast<std::int64_t>(runlist_ ? tsgs : std::min<std::size_t>(tsgs, 1));
    }
    for (std::size_t n = 0; n < turns.size(); n++)
        governor_->set_tsgs(n, turns[n]);
}

std::vector<bool> Warden::has_tasks() const {
    std::vector<bool> has(asked_.tenants.size());
    for (const auto &[pid, task] : tasks_)
        if (task.tenant < has.size())
            has[task.tenant] = true;
    return has;
}

bool Warden::has_unheld_tasks_in(const Family &family) const {
    return std::ranges::any_of(tasks_, [&](const auto &one) {
        const Task &task = one.second;
        const bool is_held =
            task.tenant < asked_.tenants.size() && asked_.tenants[task.tenant].family;
        return !task.is_gone && !is_held && family.has(task.process);
    });
}

// --- searches ---

bool Warden::is_searching() const {
    return looking_.valid() || holding_.valid();
}

void Warden::look() {
    looked_at_ = now_;
    look_needed_ = false; // what comes from now on may not be found
    looking_ = std::async(options_.searches, search());
}

/// Of each all-of: in the goals. Which process has the number, the next search finds.
void Warden::grow_trees() {
    Trees wanted;
    for (const Tenant &tenant : asked_.tenants)
        if (const auto pid = tenant.who.all_of) {
            const auto known = trees_.find(*pid);
            look_needed_ = look_needed_ || known == trees_.end();
            wanted[*pid] = known == trees_.end() ? std::make_shared<Family>() : known->second;
        }
    trees_ = std::move(wanted);
}

/// How long all of this takes, those decide who have processes: so no step does any of it.
std::function<Warden::Found()> Warden::search() const {
    std::vector<std::shared_ptr<Family>> families;
    for (const Tenant &tenant : asked_.tenants)
        if (tenant.family)
            families.push_back(tenant.family);
    for (const auto &[pid, tree] : trees_)
        families.push_back(tree);
    std::set<nvdebug::base::Birth> known;
    for (const auto &[pid, task] : tasks_)
        if (task.has_page && task.process.started)
            known.insert({pid, *task.process.started});
    return [gpu = gpu_, families = std::move(families), known = std::move(known), trees = trees_,
            processes = options_.processes, wants_pages = launches_.has_value()] {
        Found found{gpu.owners()};
        if (!found.owners)
            return found;
        for (const auto &[pid, tree] : trees)
            if (!tree->had_members())
                if (const auto root = nvdebug::base::state_of(pid); root && !root->has_ended)
                    tree->add(root->birth);
        look_for_descendants(families, processes);
        std::set<std::uint32_t> pids;
        for (const nvdebug::OwnedChannel &channel : found.owners->channels)
            pids.insert(channel.pid);
        for (const nvdebug::Process &process : found.owners->processes)
            if (const nvdebug::base::Birth birth{process.pid, process.started.value_or(0)};
                wants_pages && pids.contains(process.pid) && !known.contains(birth))
                found.pages[birth] =
                    nvtaskset::page_of(static_cast<pid_t>(process.pid), nvtaskset::Access::change);
        return found;
    };
}

/// Holds tasks that were found, and looks for others when that is due.
void Warden::begin_search() {
    if (is_searching())
        return;
    std::vector<std::uint32_t> pids;
    nvdebug::HoldOptions options{
        .runlist = runlist_,
        .patience = options_.patience,
        .report_left = [warn = warn_, index = number_](const std::string &left) {
            warn(fmt::format("gpu{}: {}", index, left));
        }};
    for (auto &[pid, task] : tasks_) {
        if (!std::exchange(task.is_to_be_held, false))
            continue;
        task.drop_empty_holds();
        const std::vector<nvdebug::HeldChannel> held = task.held();
        // With none left, or all to be held anew: they restore the task before a new one reads its
        // state.
        if (task.holds.empty() || task.holds.size() == most_holds || !is_among(held, task.channels))
            task.let_go();
        else
            options.except.insert(options.except.end(), held.begin(), held.end());
        pids.push_back(pid);
        if (pids.size() == holds_at_once)
            break;
    }
    if (!pids.empty()) {
        held_ = pids;
        holding_ = std::async(options_.searches, [gpu = gpu_, pids = std::move(pids), options] {
            return gpu.hold_each(pids, options);
        });
        return;
    }
    const Ns longest = has_mps_ ? std::min(look_for_clients, options_.longest_unlooked)
                                : options_.longest_unlooked;
    if (now_ - looked_at_ >= (look_needed_ ? asked_.settings.epoch : longest))
        look();
}

Outcome<bool> Warden::take_found() {
    if (const auto found = result_of(looking_)) {
        const auto &owners = found->owners;
        look_needed_ = look_needed_ || !owners;
        if (!owners)
            return owners.error().code == nvdebug::ErrorCode::gone ? fail(owners.error())
                                                                   : Outcome<bool>(false);
        // Turns of tasks that have ended are still theirs.
        if (auto turns = governor_ ? read() : Outcome<void>(); !turns)
            return tl::unexpected(turns.error());
        take_owners(*owners);
        for (auto &[pid, task] : tasks_)
            if (const auto page = found->pages.find({pid, task.process.started.value_or(0)});
                page != found->pages.end()) {
                task.has_page = true;
                task.page = page->second;
            }
        return true;
    }
    if (auto holds = result_of(holding_))
        take_holds(*holds);
    return false;
}

/// All of them, before there are goals to keep.
Outcome<void> Warden::find_tasks() {
    for (look(); is_searching(); begin_search()) {
        if (looking_.valid())
            looking_.wait();
        else
            holding_.wait();
        if (auto taken = take_found(); !taken)
            return tl::unexpected(taken.error());
    }
    return {};
}

void Warden::take_owners(const nvdebug::Owners &owners) {
    if (owners.denied || owners.hidden)
        warn_once(fmt::format(
            "gpu{}: there may be tasks that this user may not change; run it as root", number_));
    std::set<std::uint32_t> there;
    has_mps_ = false;
    for (const nvdebug::Process &process : owners.processes) {
        has_mps_ = has_mps_ || process.command.value_or("").starts_with(mps);
        std::vector<nvdebug::HeldChannel> channels;
        for (const nvdebug::OwnedChannel &channel : owners.channels)
            if (channel.pid == process.pid)
                channels.push_back({channel.client, channel.channel});
        if (channels.empty())
            continue;
        there.insert(process.pid);
        for (const Tenant &tenant : asked_.tenants)
            if (tenant.who.pid == process.pid && process.started)
                meant_.try_emplace(process.pid, *process.started);
        Task &task = tasks_[process.pid];
        // The pid may have been reused, or the process may run another command.
        const bool same =
            nvdebug::same_process(task.process, process) && task.process.pid == process.pid;
        task.process = process;
        task.tenant = tenant_of(process);
        if (!same) {
            task.has_turns.reset();
            task.has_page = false;
            task.page.reset();
        }
        if (same && task.channels == channels)
            continue;
        task.channels = std::move(channels);
        task.is_gone = false;
        task.is_to_be_held = !options_.dry_run && has_goals_;
    }
    // Reading again does not find processes that are hidden from this user, or have ended. Of one
    // that came during this search, reading its turns has asked for the next one.
    passed_over_.clear();
    for (const auto &[pid, task] : tasks_)
        if (!there.contains(pid))
            passed_over_.insert(pid);
    std::erase_if(tasks_, [&](const auto &one) { return !there.contains(one.first); });
    count_tsgs();
}

void Warden::take_holds(nvdebug::Result<nvdebug::TaskHolds> &holds) {
    for (std::size_t n = 0; n < held_.size(); n++) {
        const auto at = tasks_.find(held_[n]);
        if (at == tasks_.end() || !has_goals_)
            continue;
        Task &task = at->second;
        auto hold = holds ? std::move((*holds)[n]) : tl::unexpected(holds.error());
        task.why_not.clear();
        if (!hold && hold.error().code == nvdebug::ErrorCode::not_found)
            lose(task, hold.error());
        else if (!hold) {
            task.why_not =
                fmt::format("gpu{}: {} cannot be changed, so that goals may not be kept: {}",
                            number_, name_of(task.process), hold.error().sentence);
            // A keeper still undoes what was changed before: it is held with a later look.
            if (hold.error().code == nvdebug::ErrorCode::busy) {
                task.channels.clear();
                look_needed_ = true;
            }
        } else if (!(*hold)->channels().empty())
            task.holds.push_back(std::move(*hold));
        task.asked.reset(); // for what is held now, too
        task.has_turns = !task.holds.empty();
    }
    count_tsgs();
}

/// The driver records switches alone. A context that had the GPU before the record began leaves it
/// when another comes, and until then its use is unseen: a cap would not be kept. A pause of a
/// millisecond makes it leave and come back (measured on an H100).
nvdebug::Result<void> Warden::show_on_record(Task &task) {
    const bool is_silent = !last_switch_ && now_ - since_[task.tenant] >= asked_.settings.epoch;
    const bool is_tenants = task.tenant < asked_.tenants.size();
    if (task.recorded || !(goal_of(task.tenant).cap || (is_tenants && is_silent)))
        return {};
    task.recorded = true;
    task.asked.reset();
    for (const bool paused : {true, false})
        if (auto done = task.ask({.paused = paused}); !done || !(done = task.finish()))
            return done;
    return {};
}

void Warden::lose(Task &task, const nvdebug::Error &error) {
    task.let_go();
    task.channels.clear();
    look_needed_ = true;
    task.is_gone = error.code == nvdebug::ErrorCode::not_found;
    count_tsgs();
    if (!task.is_gone)
        warn_once(fmt::format("gpu{}: {}: {}", number_, name_of(task.process), error.sentence));
}

} // namespace nvqos
