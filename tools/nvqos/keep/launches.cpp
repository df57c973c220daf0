// SPDX-License-Identifier: MIT OR GPL-2.0
#include "launches.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "futexes.hpp"
#include "lib/partition/gate.hpp"
#include "lib/partition/gpus.hpp"
#include "lib/partition/kept_map.hpp"

namespace nvqos {

using std::chrono::microseconds;

namespace {

/// A step of the pacer.
constexpr microseconds step{qos::Pacer::Times().step / qos::us};
/// A lease by which launches are held: an nvqos that was killed holds them no longer.
constexpr std::uint64_t longest_hold_us = 200'000;
/// A request without an end counts for so long.
constexpr std::uint64_t longest_request_us = 100'000;
/// From one look to the next at least.
constexpr std::uint64_t shortest_us = 50;
/// Requests that are kept of the last second.
constexpr std::size_t recent_max = 20'000;
/// A task that does not launch for so long has no work.
constexpr std::uint64_t idle_us = 1'000'000;

} // namespace

Launches::Launches(const std::string &pci_address, std::chrono::milliseconds patience)
    : gpu_(nvtaskset::uuid_of(pci_address)),
      length_(std::min<microseconds>(patience, microseconds(nvtaskset::lease_max_us))) {}

Launches::~Launches() {
    if (thread_.joinable()) {
        thread_.request_stop();
        changed_++;
        wake(changed_);
        thread_.join();
    }
    for (const auto &[page, task] : tasks_)
        end(task);
}

void Launches::end(const Task &task) const {
    task.page->lease_limit(*gpu_, 0, 0);
    task.page->end_mask(*gpu_);
}

Launches::Seen Launches::look_at(const Launcher &launcher) {
    const auto &page = launcher.page;
    if (!page)
        return {launcher.process->started};
    const nvtaskset::State &state = page->state();
    tasks_.try_emplace(page->inode(),
                       Task{page, state.limiting < state.attached, state.pacing >= state.attached});
    return {launcher.process->started, page->inode()};
}

void Launches::assign(const std::vector<Launcher> &launchers, bool divides_tpcs) {
    const auto find = [&](const Launcher &one) {
        const auto at = tasks_.find(seen_.at(one.process->pid).page);
        return at == tasks_.end() ? nullptr : &at->second;
    };
    const auto is_paced = [&](const Launcher &one) {
        const Task *const task = find(one);
        return one.goal.aim == qos::Aim::speed && !one.has_turns && task && task->paces;
    };
    const bool has_service = std::ranges::any_of(
        launchers, [](const auto &one) { return one.goal.aim == qos::Aim::latency; });
    std::map<std::size_t, Service> services;
    for (const Launcher &one : launchers) {
        if (one.goal.aim != qos::Aim::latency)
            continue;
        const auto [at, fresh] = services.try_emplace(one.tenant);
        const auto before = services_.find(one.tenant);
        if (fresh && before != services_.end() && before->second.p99 == one.goal.p99)
            at->second = std::move(before->second);
        if (fresh)
            at->second.processes = at->second.seen = 0;
        at->second.p99 = one.goal.p99;
        at->second.processes++;
        const Task *const task = find(one);
        at->second.seen += task && task->paces;
    }
    services_ = std::move(services);
    std::map<std::size_t, qos::Part> paced;
    for (const Launcher &one : launchers)
        if (is_paced(one))
            paced[one.tenant] = one.goal.part;
    bool others_changed = false;
    for (const Launcher &one : launchers) {
        Task *const task = find(one);
        if (!task || std::exchange(task->wanted, true))
            continue;
        task->tenant = one.tenant;
        task->has_turns = one.has_turns;
        const bool was_beside = is_beside(*task);
        task->role = task->old_library                       ? Role::none
                     : one.goal.aim == qos::Aim::latency     ? Role::service
                     : is_paced(one)                         ? Role::paced
                     : one.goal.aim != qos::Aim::best_effort ? Role::none
                     : has_service                           ? Role::behind
                     : paced.empty() || one.has_turns        ? Role::none
                                                             : Role::beside;
        others_changed = others_changed || (is_beside(*task) && !was_beside);
    }
    if (division_ && others_changed)
        division_->others_changed();
    std::vector<std::size_t> tenants;
    std::vector<qos::Part> goals;
    for (const auto &[tenant, goal] : paced) {
        tenants.push_back(tenant);
        goals.push_back(goal);
    }
    if (tenants == paced_ && goals == goals_ && divides_tpcs == divides_tpcs_)
        return;
    divides_tpcs_ = divides_tpcs;
    paced_ = tenants;
    goals_ = goals;
    launched_.assign(tenants.size(), {});
    for (auto &[page, task] : tasks_) {
        task.last.reset();
        if (std::exchange(task.tpcs, 0))
            task.page->end_mask(*gpu_);
    }
    pacer_.reset();
    division_.reset();
    const qos::Ns now = static_cast<qos::Ns>(nvtaskset::monotonic_us()) * qos::us;
    if (!tenants.empty())
        pacer_.emplace(goals, now);
    if (!divides_tpcs_ || tenants.size() != 1)
        return;
    if (const auto driver = nvtaskset::driver_version())
        map_ = nvtaskset::kept_map(*gpu_, *driver);
    if (map_ && map_->tpcs.size() >= 2)
        division_.emplace(static_cast<int>(map_->tpcs.size()), goals.front(), now);
}

void Launches::keep(const std::vector<Launcher> &launchers, bool divides_tpcs) {
    if (!gpu_)
        return;
    const std::lock_guard lock(mutex_);
    for (auto &[pid, seen] : seen_)
        seen.wanted = false;
    for (auto &[page, task] : tasks_)
        task.wanted = false;
    for (const Launcher &one : launchers) {
        auto at = seen_.find(one.process->pid);
        if (at == seen_.end() || at->second.started != one.process->started)
            at = seen_.insert_or_assign(one.process->pid, look_at(one)).first;
        at->second.wanted = true;
    }
    assign(launchers, divides_tpcs);
    std::erase_if(seen_, [](const auto &one) { return !one.second.wanted; });
    std::erase_if(tasks_, [&](const auto &one) {
        if (one.second.wanted)
            return false;
        end(one.second);
        // Of a process that has ended nothing is in flight.
        if (const std::size_t n = number_of(one.second.tenant);
            one.second.role == Role::paced && one.second.last && n < launched_.size())
            launched_[n].ended += std::max(one.second.last->launched, one.second.last->ended) -
                                  one.second.last->ended;
        return true;
    });
    kept_at_us_ = nvtaskset::monotonic_us();
    if (!tasks_.empty() && !thread_.joinable())
        thread_ = std::jthread([this](const std::stop_token &stop) { run(stop); });
    changed_++;
    wake(changed_);
}

// --- the thread ---

void Launches::run(const std::stop_token &stop) {
    while (!stop.stop_requested()) {
        const std::uint64_t began = nvtaskset::monotonic_us();
        wait_for_change(awaited_, act());
        // A task may change its words without end.
        if (nvtaskset::monotonic_us() - began < shortest_us)
            std::this_thread::sleep_for(microseconds(shortest_us));
    }
}

/// Has the service launched, and not waited for the end of it?
bool Launches::has_request(Task &task, std::uint64_t now) {
    const nvtaskset::Work *const work = task.page->find_work(*gpu_);
    if (!work)
        return false;
    const std::uint32_t finished = work->finished, begun = work->begun;
    // Of more than that many at once, the first ones were overwritten.
    if (finished - task.finished > nvtaskset::Work::kept)
        task.finished = finished - nvtaskset::Work::kept;
    for (; task.finished != finished; task.finished++)
        if (const qos::Ns us = work->took_us[task.finished % nvtaskset::Work::kept]) {
            Service &service = services_[task.tenant];
            service.took.add(us * qos::us);
            service.recent.emplace_back(now, us * qos::us);
            if (service.recent.size() > recent_max)
                service.recent.pop_front();
        }
    if (begun != std::exchange(task.begun, begun))
        task.begun_at_us = now;
    const std::uint32_t open = begun - finished;
    task.lost = now - task.begun_at_us > longest_request_us ? open : std::min(task.lost, open);
    const bool has = open > task.lost;
    awaited_.push_back(has ? Awaited{&work->finished, finished} : Awaited{&work->begun, begun});
    awaited_pages_.push_back(task.page);
    return has;
}

void Launches::count(Task &task, std::uint64_t now) {
    const nvtaskset::Gate *const gate = task.page->find_gate(*gpu_);
    const nvtaskset::Work *const work = task.page->find_work(*gpu_);
    if (!gate || !work)
        return;
    // `ended` first: it is never more than what was launched. The ends of some are not seen.
    std::uint64_t ended = gate->ended;
    const std::uint64_t launched = gate->launched - gate->unlimited - gate->overdue;
    // What was in flight in a process that has ended is so for good.
    const std::uint64_t open = launched > ended ? launched - ended : 0;
    const bool is_quiet = task.launched_at_us && now - task.launched_at_us > idle_us;
    task.gone = is_quiet ? open : std::min(task.gone, open);
    ended += task.gone;
    // What is in flight now is counted when it ends.
    const qos::Launched last = task.last.value_or(qos::Launched{ended, ended});
    // A launch is counted before it is found that its end will not be seen.
    task.last = {std::max(launched, last.launched), std::max(ended, last.ended)};
    task.is_drained = ended >= launched;
    if (launched > last.launched || task.demand == nvtaskset::demand::hold)
        task.launched_at_us = now;
    if (is_beside(task))
        others_ended_ += ended > last.ended ? ended - last.ended : 0;
    if (task.role != Role::paced)
        return;
    // A task may write its page itself: nothing goes back.
    qos::Launched &all = launched_[number_of(task.tenant)];
    all.ended += ended > last.ended ? ended - last.ended : 0;
    all.launched += launched > last.launched ? launched - last.launched : 0;
    all.waits = all.waits || open > task.gone + gate->unmarked;
    const auto at = static_cast<qos::Ns>(std::min<std::uint64_t>(work->ended_us, now)) * qos::us;
    all.ended_at = std::max(all.ended_at, at);
}

void Launches::pace(std::uint64_t now) {
    bool drained = true, others = false;
    for (qos::Launched &one : launched_)
        one.waits = false;
    for (auto &[page, task] : tasks_) {
        count(task, now);
        drained = drained && (task.demand != nvtaskset::demand::hold || task.is_drained);
        others = others || (is_beside(task) && now - task.launched_at_us < idle_us);
    }
    pacer_->step(static_cast<qos::Ns>(now) * qos::us, launched_, drained, others,
                 !division_ || division_->is_whole());
    if (division_)
        division_->step(static_cast<qos::Ns>(now) * qos::us,
                        {launched_.front(), others_ended_, drained, others}, *pacer_);
}

bool Launches::holds_others() const {
    return division_ ? division_->holds_others() : pacer_ && pacer_->holds_others();
}

void Launches::divide_tpcs(std::uint64_t now) {
    const int all = static_cast<int>(map_->tpcs.size());
    for (auto &[page, task] : tasks_) {
        const bool paced = task.role == Role::paced;
        const bool fits = can_yield(task) && (paced || is_beside(task));
        const int tpcs = !fits ? 0 : paced ? division_->of_tenant() : division_->of_others();
        const auto length = static_cast<std::uint64_t>(length_.count());
        if (tpcs == task.tpcs && (!tpcs || task.mask_until_us > now + length / 4 * 3))
            continue;
        task.tpcs = tpcs;
        task.mask_until_us = now + length;
        if (!tpcs) {
            task.page->end_mask(*gpu_);
            continue;
        }
        std::vector<std::uint32_t> chosen(static_cast<std::size_t>(tpcs));
        std::iota(chosen.begin(), chosen.end(), static_cast<std::uint32_t>(paced ? 0 : all - tpcs));
        task.page->lease_mask(nvtaskset::partition_of(*map_, chosen), task.mask_until_us);
    }
}

std::size_t Launches::number_of(std::size_t tenant) const {
    return static_cast<std::size_t>(std::ranges::find(paced_, tenant) - paced_.begin());
}

std::uint32_t Launches::demand_of(const Task &task, bool has_request) const {
    const bool yields = can_yield(task);
    const bool is_held = has_request || holds_others();
    switch (task.role) {
    case Role::none:
        return 0;
    case Role::service:
        return task.paces ? nvtaskset::demand::watch : 0;
    case Role::behind:
        return yields && is_held ? nvtaskset::demand::hold : limit_of(task);
    case Role::paced:
        return pacer_->holds(number_of(task.tenant)) ? nvtaskset::demand::hold
                                                     : nvtaskset::demand::count;
    case Role::beside:
        return !yields ? 0 : is_held ? nvtaskset::demand::hold : nvtaskset::demand::count;
    }
    return 0;
}

/// Returns how long nothing is to be done unless what is awaited changes.
microseconds Launches::act() {
    const std::lock_guard lock(mutex_);
    awaited_.assign(1, {&changed_, changed_.load()});
    awaited_pages_.clear();
    const std::uint64_t now = nvtaskset::monotonic_us();
    const auto length = static_cast<std::uint64_t>(length_.count());
    // keep() is not called any more: no lease is renewed.
    if (now - kept_at_us_ > length)
        return length_;
    bool has_request = false;
    for (auto &[page, task] : tasks_)
        if (task.role == Role::service && task.paces)
            has_request = this->has_request(task, now) || has_request;
    if (pacer_)
        pace(now);
    bool holds = false;
    for (auto &[page, task] : tasks_) {
        const std::uint32_t wanted = demand_of(task, has_request);
        const std::uint64_t time = wanted == nvtaskset::demand::hold ? longest_hold_us : length;
        holds = holds || wanted == nvtaskset::demand::hold;
        // Renewed after a quarter of the time.
        if (wanted == task.demand && (!wanted || task.until_us > now + time / 4 * 3))
            continue;
        task.demand = wanted;
        task.until_us = now + time;
        // If all slots of its page have other GPUs, nothing can be written.
        task.page->lease_limit(*gpu_, wanted, task.until_us);
    }
    if (division_)
        divide_tpcs(now);
    return pacer_ ? step : microseconds(holds ? longest_hold_us / 8 : length / 8);
}

// --- what is shown ---

const Launches::Task *Launches::task_of(std::uint32_t pid) const {
    const auto seen = seen_.find(pid);
    const auto task = seen == seen_.end() ? tasks_.end() : tasks_.find(seen->second.page);
    return task == tasks_.end() ? nullptr : &task->second;
}

std::uint32_t Launches::limit(std::uint32_t pid) const {
    const std::lock_guard lock(mutex_);
    const Task *const task = task_of(pid);
    return task && task->role == Role::behind ? limit_of(*task) : 0;
}

bool Launches::counts(std::uint32_t pid) const {
    const std::lock_guard lock(mutex_);
    const Task *const task = task_of(pid);
    return task && task->paces && (task->role == Role::paced || task->role == Role::beside);
}

bool Launches::paces(std::uint32_t pid) const {
    const std::lock_guard lock(mutex_);
    const Task *const task = task_of(pid);
    return task && task->paces && task->role != Role::none;
}

bool Launches::has_old_library(std::uint32_t pid) const {
    const std::lock_guard lock(mutex_);
    const Task *const task = task_of(pid);
    return task && task->old_library;
}

std::optional<Pace> Launches::pace(std::size_t tenant) const {
    const std::lock_guard lock(mutex_);
    if (std::ranges::count(paced_, tenant) == 0)
        return std::nullopt;
    const std::size_t n = number_of(tenant);
    return Pace{pacer_->speed(n), pacer_->alone(n), division_ ? division_->split() : 0};
}

int Launches::tpcs_of_others() const {
    const std::lock_guard lock(mutex_);
    return division_ ? division_->of_others() : 0;
}

bool Launches::lacks_map() const {
    const std::lock_guard lock(mutex_);
    return divides_tpcs_ && paced_.size() == 1 && !map_;
}

std::optional<Requests> Launches::requests(std::size_t tenant) const {
    const std::lock_guard lock(mutex_);
    const auto at = services_.find(tenant);
    if (at == services_.end() || at->second.seen < at->second.processes)
        return std::nullopt;
    const Service &service = at->second;
    Requests found{service.took};
    const std::uint64_t now = nvtaskset::monotonic_us();
    for (const auto &[ended, took] : service.recent)
        if (now - ended <= 1'000'000) {
            found.recent++;
            found.late += service.p99 && took > service.p99;
        }
    return found;
}

} // namespace nvqos
