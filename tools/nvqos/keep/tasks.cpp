// SPDX-License-Identifier: MIT OR GPL-2.0
#include "tasks.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <numeric>
#include <utility>

#include "lib/base/printable.hpp"
#include "lib/partition/tasks.hpp"

namespace nvqos {

using nvdebug::base::printable;
using qos::Ns;

namespace {

/// Under MPS, tasks are searched for so often.
constexpr Ns find_clients_each = 5 * qos::second;
/// Linux has the first 15 bytes of the names of MPS' server and of its control daemon.
constexpr std::string_view mps = "nvidia-cuda-mps";
/// Each hold of a task is a process. A task with this many is let go and held again by one.
constexpr std::size_t most_holds = 8;
/// So many tasks are held in one search, so that their levers are set before others are held.
constexpr std::size_t holds_at_once = 64;

/// Returns the result of a search, once; empty: the thread is at work, or there is no search.
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

// --- a task ---

void Task::let_go() {
    holds.clear();
    asked.state.reset();
    asked.paused_since.reset();
}

void Task::drop_empty_holds() {
    std::erase_if(holds, [&](const auto &hold) {
        return std::ranges::find_first_of(hold->channels(), channels) == hold->channels().end();
    });
}

nvdebug::Result<void> Task::ask(const nvdebug::TaskState &state) {
    for (const auto &hold : holds)
        if (auto sent = hold->ask(state); !sent)
            return sent;
    return {};
}

nvdebug::Result<void> Task::finish() {
    for (const auto &hold : holds)
        if (auto finished = hold->finish(); !finished)
            return finished;
    return {};
}

std::size_t Task::tsgs() const {
    return std::transform_reduce(holds.begin(), holds.end(), std::size_t{0}, std::plus(),
                                 [](const auto &hold) { return hold->tsgs(); });
}

std::vector<nvdebug::HeldChannel> Task::held() const {
    std::vector<nvdebug::HeldChannel> all;
    for (const auto &hold : holds)
        all.insert(all.end(), hold->channels().begin(), hold->channels().end());
    return all;
}

// --- their tenants ---

Tasks::Tasks(nvdebug::Gpu gpu, const Tenants &tenants, Options options, Warnings &warnings)
    : gpu_(std::move(gpu)), tenants_(tenants), options_(std::move(options)), warnings_(warnings) {
    assign_tenants();
}

std::size_t Tasks::tenant_of(const nvdebug::Process &process) const {
    const auto &tenants = tenants_.goals().tenants;
    for (std::size_t n = 0; n < tenants.size(); n++) {
        const Selector &who = tenants[n].who;
        const auto meant = who.pid ? meant_.find(*who.pid) : meant_.end();
        // The pid of a process that has ended may have been reused.
        if (meant != meant_.end() && process.started != meant->second)
            continue;
        if (fits(tenants[n], process, trees_))
            return n;
    }
    return tenants_.others();
}

Task &Tasks::task_of(std::uint32_t pid) {
    const auto [at, is_new] = tasks_.try_emplace(pid);
    Task &task = at->second;
    if (is_new) {
        // This thread has a deadline, so it reads one number. A search finds the rest.
        task.process = {pid, {}, {}, {}, options_.started(pid)};
        task.tenant = tenant_of(task.process);
        is_search_needed_ = is_search_needed_ || !passed_over_.contains(pid);
    }
    return task;
}

qos::TenantTurn Tasks::take(const TaskTurn &turn) {
    Task &task = task_of(turn.pid);
    task.recorded = true;
    is_search_needed_ = is_search_needed_ || turn.is_of_unknown;
    const auto &paused_since = task.asked.paused_since;
    const Ns end =
        paused_since && turn.continues ? std::clamp(*paused_since, turn.begin, turn.end) : turn.end;
    return {task.tenant, std::uint64_t{turn.pid} << 32 | turn.context, turn.begin, end, turn.ends};
}

void Tasks::mark_gap() {
    for (auto &[pid, task] : tasks_)
        task.recorded = false;
}

void Tasks::assign_tenants() {
    follow_trees();
    for (auto &[pid, task] : tasks_)
        task.tenant = tenant_of(task.process);
    count_tsgs();
}

/// Follows the processes of each `all-of:` in the goals. The next search finds which process has
/// the number of a new one.
void Tasks::follow_trees() {
    Trees wanted;
    for (const Tenant &tenant : tenants_.goals().tenants)
        if (const auto pid = tenant.who.all_of) {
            const auto known = trees_.find(*pid);
            is_search_needed_ = is_search_needed_ || known == trees_.end();
            wanted[*pid] = known == trees_.end() ? std::make_shared<Family>() : known->second;
        }
    trees_ = std::move(wanted);
}

void Tasks::hold_again() {
    is_search_needed_ = true;
    for (auto &[pid, task] : tasks_) {
        task.channels.clear();
        task.is_to_be_held = false;
        task.let_go();
    }
}

void Tasks::give_up(Task &task, const nvdebug::Error &error) {
    task.let_go();
    task.channels.clear();
    is_search_needed_ = true;
    task.is_gone = error.code == nvdebug::ErrorCode::not_found;
    count_tsgs();
    if (!task.is_gone)
        warnings_.once(fmt::format("{}: {}", name_of(task.process), error.sentence));
}

// --- searches ---

void Tasks::begin_to_find(Ns now) {
    found_at_ = now;
    is_search_needed_ = false; // a task that comes from now on needs another search
    finding_ = std::async(options_.searches, finder());
}

/// Returns a function that searches, for another thread: users decide how many processes there are,
/// and so how long it takes.
std::function<Tasks::Found()> Tasks::finder() const {
    std::vector<std::shared_ptr<Family>> families;
    for (const Tenant &tenant : tenants_.goals().tenants)
        if (tenant.family)
            families.push_back(tenant.family);
    for (const auto &[pid, tree] : trees_)
        families.push_back(tree);
    std::set<nvdebug::base::Birth> known;
    for (const auto &[pid, task] : tasks_)
        if (task.has_page && task.process.started)
            known.insert({pid, *task.process.started});
    return [gpu = gpu_, families = std::move(families), known = std::move(known), trees = trees_,
            processes = options_.processes, wants_pages = options_.wants_pages] {
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

void Tasks::search(Ns now) {
    if (is_searching())
        return;
    std::vector<std::uint32_t> pids;
    nvdebug::HoldOptions options{.runlist = options_.runlist,
                                 .patience = options_.patience,
                                 .report_left = warnings_.every_time()};
    for (auto &[pid, task] : tasks_) {
        if (!std::exchange(task.is_to_be_held, false))
            continue;
        task.drop_empty_holds();
        const std::vector<nvdebug::HeldChannel> held = task.held();
        // If no hold is left, or all channels are to be held again, the holds restore the task
        // before a new one reads its state.
        if (task.holds.empty() || task.holds.size() == most_holds || !is_among(held, task.channels))
            task.let_go();
        else
            options.except.insert(options.except.end(), held.begin(), held.end());
        pids.push_back(pid);
        if (pids.size() == holds_at_once)
            break;
    }
    if (!pids.empty()) {
        holding_ = std::async(options_.searches, [gpu = gpu_, pids = std::move(pids), options] {
            return Held{pids, gpu.hold_each(pids, options)};
        });
        return;
    }
    const Ns longest = has_mps_ ? std::min(find_clients_each, options_.longest_unlooked)
                                : options_.longest_unlooked;
    if (now - found_at_ >= (is_search_needed_ ? tenants_.goals().settings.epoch : longest))
        begin_to_find(now);
}

Outcome<std::optional<Tasks::Found>> Tasks::take_result() {
    if (auto found = result_of(finding_)) {
        if (found->owners)
            return found;
        is_search_needed_ = true;
        if (found->owners.error().code == nvdebug::ErrorCode::gone)
            return fail(found->owners.error());
    } else if (auto held = result_of(holding_)) {
        take_holds(*held);
    }
    return std::nullopt;
}

void Tasks::take_found(const Found &found) {
    take_owners(*found.owners);
    for (auto &[pid, task] : tasks_)
        if (const auto page = found.pages.find({pid, task.process.started.value_or(0)});
            page != found.pages.end()) {
            task.has_page = true;
            task.page = page->second;
        }
}

Outcome<void> Tasks::find_all(Ns now) {
    for (begin_to_find(now); is_searching(); search(now)) {
        if (finding_.valid())
            finding_.wait();
        else
            holding_.wait();
        const auto found = take_result();
        if (!found)
            return tl::unexpected(found.error());
        if (*found)
            take_found(**found);
    }
    return {};
}

void Tasks::take_owners(const nvdebug::Owners &owners) {
    if (owners.denied || owners.hidden)
        warnings_.once("there may be tasks that this user may not change; run it as root");
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
        for (const Tenant &tenant : tenants_.goals().tenants)
            if (tenant.who.pid == process.pid && process.started)
                meant_.try_emplace(process.pid, *process.started);
        Task &task = tasks_[process.pid];
        // The pid may have been reused, or the process may run another command.
        const bool same =
            nvdebug::same_process(task.process, process) && task.process.pid == process.pid;
        task.process = process;
        task.id = nvdebug::identity_of(process);
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
        task.is_to_be_held = options_.holds && tenants_.goals().any();
    }
    // Another search would not find processes that are hidden from this user, or have ended. If a
    // process came during this search, its first turn has asked for the next one.
    passed_over_.clear();
    for (const auto &[pid, task] : tasks_)
        if (!there.contains(pid))
            passed_over_.insert(pid);
    std::erase_if(tasks_, [&](const auto &one) { return !there.contains(one.first); });
    count_tsgs();
}

void Tasks::take_holds(Held &held) {
    for (std::size_t n = 0; n < held.pids.size(); n++) {
        const auto at = tasks_.find(held.pids[n]);
        if (at == tasks_.end() || !tenants_.goals().any())
            continue;
        Task &task = at->second;
        auto hold = held.holds ? std::move((*held.holds)[n]) : tl::unexpected(held.holds.error());
        task.why_not.clear();
        if (!hold && hold.error().code == nvdebug::ErrorCode::not_found)
            give_up(task, hold.error());
        else if (!hold) {
            task.why_not = fmt::format("{} cannot be changed, so that goals may not be kept: {}",
                                       name_of(task.process), hold.error().sentence);
            // A keeper still restores the task from an earlier hold. A later search holds it again.
            if (hold.error().code == nvdebug::ErrorCode::busy) {
                task.channels.clear();
                is_search_needed_ = true;
            }
        } else if (!(*hold)->channels().empty())
            task.holds.push_back(std::move(*hold));
        task.asked.state.reset(); // the new hold is to be asked, too
        task.has_turns = !task.holds.empty();
    }
    count_tsgs();
}

void Tasks::count_tsgs() {
    tsgs_.assign(tenants_.size(), 0);
    for (const auto &[pid, task] : tasks_) {
        if (task.is_gone)
            continue;
        // Without runlists it is not known which TSGs are of GR0; mostly a process has one there.
        const std::size_t tsgs = task.holds.empty() ? 1 : task.tsgs();
        tsgs_[task.tenant] +=
            static_cast<std::int64_t>(options_.runlist ? tsgs : std::min<std::size_t>(tsgs, 1));
    }
}

// --- numbers ---

std::size_t Tasks::count(std::size_t tenant) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        tasks_, [&](const auto &one) { return one.second.tenant == tenant; }));
}

std::vector<TasksInContainer> Tasks::containers(std::size_t tenant) const {
    std::vector<TasksInContainer> all;
    for (const auto &[pid, task] : tasks_) {
        if (task.tenant != tenant || (!task.id.container && !task.id.pod))
            continue;
        auto at = std::ranges::find_if(all, [&id = task.id](const TasksInContainer &one) {
            return one.id.container == id.container && one.id.pod == id.pod;
        });
        if (at == all.end() && all.size() == TenantReport::most_containers)
            continue;
        if (at == all.end())
            at = all.insert(at, {.id = task.id});
        at->tasks++;
    }
    return all;
}

std::size_t Tasks::held(std::size_t tenant) const {
    return static_cast<std::size_t>(std::ranges::count_if(tasks_, [&](const auto &one) {
        return one.second.tenant == tenant && (!one.second.holds.empty() || !options_.holds);
    }));
}

bool Tasks::are_seen(std::size_t tenant) const {
    return held(tenant) > 0 && std::ranges::none_of(tasks_, [&](const auto &one) {
               return one.second.tenant == tenant && one.second.has_turns == false;
           });
}

Ns Tasks::timeslice(std::uint32_t pid) const {
    const auto at = tasks_.find(pid);
    const auto state = at == tasks_.end() ? std::nullopt : at->second.asked.state;
    return state && state->timeslice_ns ? static_cast<Ns>(*state->timeslice_ns) : drivers_timeslice;
}

bool Tasks::has_unheld_in(const Family &family) const {
    return std::ranges::any_of(tasks_, [&](const auto &one) {
        const Task &task = one.second;
        return !task.is_gone && !tenants_[task.tenant].asked.family && family.has(task.process);
    });
}

} // namespace nvqos
