// SPDX-License-Identifier: MIT OR GPL-2.0
#include "launches.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "futexes.hpp"
#include "lib/base/thread_name.hpp"
#include "lib/partition/gate.hpp"
#include "lib/partition/gpus.hpp"
#include "lib/partition/kept_map.hpp"

namespace nvqos {

using std::chrono::microseconds;

namespace {

/// The time from one step of the pacer to the next.
constexpr microseconds step{qos::Pacer::Times().step / qos::us};
/// The length of a lease by which launches are held. After nvqos was killed, they are held for this
/// long at most.
constexpr std::uint64_t longest_hold_us = 200'000;
/// The shortest time from one turn of the thread's loop to the next.
constexpr std::uint64_t shortest_us = 50;

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

Launches::Seen Launches::find_task(const Launcher &launcher) {
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
    services_.begin_list();
    for (const Launcher &one : launchers)
        if (one.goal.aim == qos::Aim::latency) {
            const Task *const task = find(one);
            services_.add_process(one.tenant, one.goal.p99, task && task->paces);
        }
    services_.end_list();
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
    if (others_changed)
        pacing_.others_changed();
    std::vector<Pacing::Speed> speeds;
    for (const auto &[tenant, part] : paced)
        speeds.push_back({tenant, part});
    const qos::Ns now = static_cast<qos::Ns>(nvtaskset::monotonic_us()) * qos::us;
    if (!pacing_.set(speeds, divides_tpcs, now))
        return;
    for (auto &[page, task] : tasks_) {
        task.count.reset();
        if (std::exchange(task.mask.tpcs, 0))
            task.page->end_mask(*gpu_);
    }
    if (!pacing_.wants_division())
        return;
    if (const auto driver = nvtaskset::driver_version())
        map_ = nvtaskset::kept_map(*gpu_, *driver);
    if (map_ && map_->tpcs.size() >= 2)
        pacing_.divide(static_cast<int>(map_->tpcs.size()), now);
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
            at = seen_.insert_or_assign(one.process->pid, find_task(one)).first;
        at->second.wanted = true;
    }
    assign(launchers, divides_tpcs);
    std::erase_if(seen_, [](const auto &one) { return !one.second.wanted; });
    std::erase_if(tasks_, [&](const auto &one) {
        if (one.second.wanted)
            return false;
        end(one.second);
        // Nothing is in flight of a process that has ended.
        if (one.second.role == Role::paced)
            pacing_.add_ended(one.second.tenant, one.second.count.in_flight());
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
    nvdebug::base::name_thread("nvqos-launches");
    while (!stop.stop_requested()) {
        const std::uint64_t began = nvtaskset::monotonic_us();
        wait_for_change(awaited_, act());
        // A task may change its words without end, and must not keep this thread busy.
        if (nvtaskset::monotonic_us() - began < shortest_us)
            std::this_thread::sleep_for(microseconds(shortest_us));
    }
}

/// Reads the requests of a service's task. Returns whether one is open: the task has launched, and
/// has not waited for the end.
bool Launches::has_request(Task &task, std::uint64_t now) {
    const nvtaskset::Work *const work = task.page->find_work(*gpu_);
    if (!work)
        return false;
    const bool has = services_.read(task.tenant, *work, task.requests, now);
    awaited_.push_back(has ? Awaited{&work->finished, task.requests.finished}
                           : Awaited{&work->begun, task.requests.begun});
    awaited_pages_.push_back(task.page);
    return has;
}

void Launches::count(Task &task, std::uint64_t now) {
    const nvtaskset::Gate *const gate = task.page->find_gate(*gpu_);
    const nvtaskset::Work *const work = task.page->find_work(*gpu_);
    if (!gate || !work)
        return;
    const std::uint64_t ended = gate->ended;
    const std::uint64_t launched = gate->launched;
    const auto progress = task.count.read({.launched = launched,
                                           .ended = ended,
                                           .unmarked = gate->unmarked,
                                           .unseen = gate->unlimited + gate->overdue},
                                          task.demand.value == nvtaskset::demand::hold, now);
    if (is_beside(task))
        pacing_.add_of_others(progress);
    if (task.role == Role::paced)
        pacing_.add(task.tenant, progress,
                    static_cast<qos::Ns>(std::min<std::uint64_t>(work->ended_us, now)) * qos::us);
}

void Launches::pace(std::uint64_t now) {
    bool drained = true, others = false;
    pacing_.begin_step();
    for (auto &[page, task] : tasks_) {
        count(task, now);
        drained =
            drained && (task.demand.value != nvtaskset::demand::hold || task.count.is_drained());
        others = others || (is_beside(task) && task.count.has_work(now));
    }
    pacing_.step(static_cast<qos::Ns>(now) * qos::us, drained, others);
}

void Launches::divide_tpcs(std::uint64_t now) {
    const int all = static_cast<int>(map_->tpcs.size());
    for (auto &[page, task] : tasks_) {
        const bool paced = task.role == Role::paced;
        const bool fits = can_yield(task) && (paced || is_beside(task));
        const int tpcs = !fits ? 0 : paced ? pacing_.tpcs_of_tenant() : pacing_.tpcs_of_others();
        const auto length = static_cast<std::uint64_t>(length_.count());
        if (tpcs == task.mask.tpcs && (!tpcs || task.mask.until_us > now + length / 4 * 3))
            continue;
        task.mask.tpcs = tpcs;
        task.mask.until_us = now + length;
        if (!tpcs) {
            task.page->end_mask(*gpu_);
            continue;
        }
        std::vector<std::uint32_t> chosen(static_cast<std::size_t>(tpcs));
        std::iota(chosen.begin(), chosen.end(), static_cast<std::uint32_t>(paced ? 0 : all - tpcs));
        task.page->lease_mask(nvtaskset::partition_of(*map_, chosen), task.mask.until_us);
    }
}

std::uint32_t Launches::demand_of(const Task &task, bool has_request) const {
    const bool yields = can_yield(task);
    const bool is_held = has_request || pacing_.holds_others();
    switch (task.role) {
    case Role::none:
        return 0;
    case Role::service:
        return task.paces ? nvtaskset::demand::watch : 0;
    case Role::behind:
        return yields && is_held ? nvtaskset::demand::hold : limit_of(task);
    case Role::paced:
        return pacing_.holds(task.tenant) ? nvtaskset::demand::hold : nvtaskset::demand::count;
    case Role::beside:
        return !yields ? 0 : is_held ? nvtaskset::demand::hold : nvtaskset::demand::count;
    }
    return 0;
}

/// Reads pages and writes leases. Returns how long nothing is to be done unless an awaited word
/// changes.
microseconds Launches::act() {
    const std::lock_guard lock(mutex_);
    awaited_.assign(1, {&changed_, changed_.load()});
    awaited_pages_.clear();
    const std::uint64_t now = nvtaskset::monotonic_us();
    const auto length = static_cast<std::uint64_t>(length_.count());
    // Without calls of keep() no lease is renewed.
    if (now - kept_at_us_ > length)
        return length_;
    bool has_request = false;
    for (auto &[page, task] : tasks_)
        if (task.role == Role::service && task.paces)
            has_request = this->has_request(task, now) || has_request;
    if (pacing_.is_on())
        pace(now);
    bool holds = false;
    for (auto &[page, task] : tasks_) {
        const std::uint32_t wanted = demand_of(task, has_request);
        const std::uint64_t time = wanted == nvtaskset::demand::hold ? longest_hold_us : length;
        holds = holds || wanted == nvtaskset::demand::hold;
        // A lease is renewed after a quarter of its time.
        if (wanted == task.demand.value && (!wanted || task.demand.until_us > now + time / 4 * 3))
            continue;
        task.demand.value = wanted;
        task.demand.until_us = now + time;
        // This does nothing if all slots of the page belong to other GPUs.
        task.page->lease_limit(*gpu_, wanted, task.demand.until_us);
    }
    if (pacing_.is_divided())
        divide_tpcs(now);
    return pacing_.is_on() ? step : microseconds(holds ? longest_hold_us / 8 : length / 8);
}

// --- reports ---

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
    return pacing_.pace(tenant);
}

int Launches::tpcs_of_others() const {
    const std::lock_guard lock(mutex_);
    return pacing_.tpcs_of_others();
}

bool Launches::lacks_map() const {
    const std::lock_guard lock(mutex_);
    return pacing_.wants_division() && !map_;
}

std::optional<Requests> Launches::requests(std::size_t tenant) const {
    const std::lock_guard lock(mutex_);
    return services_.requests(tenant, nvtaskset::monotonic_us());
}

} // namespace nvqos
