// SPDX-License-Identifier: MIT OR GPL-2.0
#include "gangs.hpp"

#include <algorithm>

namespace simulation {
namespace {

/// The set of tasks is looked at so often.
constexpr Ns between_looks = 100 * qos::ms;

} // namespace

void Gangs::begin(const std::vector<Task> &tasks) {
    tasks_ = tasks;
    seen_.resize(scenario_.jobs.size());
    for (const Job &job : scenario_.jobs)
        has_gangs_ = has_gangs_ || (job.gang && job.ranks() > 1);
    if (!has_gangs_)
        return;
    for (Keeper &keeper : keepers_)
        keeper.keep_turns();
}

/// Takes note of tasks that have come or gone.
void Gangs::look(Ns now) {
    looked_at_ = now;
    for (std::size_t gpu = 0; gpu < keepers_.size(); gpu++) {
        std::vector<qos::TenantOnGpu> tenants;
        for (const std::size_t task : keepers_[gpu].held())
            tenants.push_back({job_of(task).name, job_of(task).goal, job_of(task).gang});
        windows_.set_tenants(static_cast<std::uint32_t>(gpu), std::move(tenants), now);
    }
    const std::vector<std::uint32_t> counted = windows_.gpus();
    for (std::size_t gpu = 0; gpu < keepers_.size(); gpu++)
        if (std::ranges::count(counted, gpu) == 0)
            keepers_[gpu].take_recent();
}

/// Returns whether requests are not served yet on GPUs with gangs. nvqos has its orders carried out
/// before its next step.
bool Gangs::is_busy() const {
    return std::ranges::any_of(
        windows_.gpus(), [&](std::uint32_t gpu) { return keepers_[gpu].has_open_requests(); });
}

Ns Gangs::due() const {
    if (!has_gangs_)
        return never;
    const Ns look_due = looked_at_ + between_looks;
    return is_busy() ? look_due : std::min(look_due, windows_.due());
}

void Gangs::step(Ns now, Driver &driver) {
    if (now >= looked_at_ + between_looks)
        look(now);
    if (is_busy() || windows_.due() > now)
        return;
    carry_out(windows_.step(now, read_turns(driver)), now, driver);
    note(now);
}

std::vector<qos::WindowTurns> Gangs::read_turns(Driver &driver) {
    std::vector<qos::WindowTurns> all;
    for (const std::uint32_t gpu : windows_.gpus()) {
        qos::WindowTurns &one = all.emplace_back(qos::WindowTurns{gpu, {}});
        keepers_[gpu].read(driver);
        for (const ReadTurn &seen : keepers_[gpu].take_recent())
            one.turns.push_back(
                {job_of(seen.turn.tsg).name, seen.turn.begin, seen.turn.end, seen.gave_way});
    }
    return all;
}

void Gangs::carry_out(const std::vector<qos::WindowOrder> &orders, Ns now, Driver &driver) {
    for (const qos::WindowOrder &order : orders)
        keepers_[order.gpu].set_carried(order.has_windows, now);
    for (const qos::WindowOrder &order : orders)
        order.has_windows ? carry_out(order.gpu, order.first, driver) : restore(order.gpu, driver);
    for (const qos::WindowOrder &order : orders)
        carry_out(order.gpu, order.then, driver);
}

void Gangs::carry_out(std::uint32_t gpu, const std::vector<qos::TenantLever> &levers,
                      Driver &driver) {
    const std::vector<std::size_t> tasks = keepers_[gpu].held();
    for (const auto &[tenant, lever] : levers)
        for (const std::size_t task : tasks)
            if (job_of(task).name == tenant)
                keepers_[gpu].carry(task, lever, driver);
}

/// Ends the pauses of all tasks on a GPU. Tasks of a governor that sets no timeslices get the one
/// back that they began with.
void Gangs::restore(std::uint32_t gpu, Driver &driver) {
    Keeper &keeper = keepers_[gpu];
    for (const std::size_t task : keeper.held()) {
        qos::WindowLever lever;
        if (!keeper.sets_timeslices())
            lever.timeslice = keeper.first_timeslice(task);
        keeper.carry(task, lever, driver);
    }
}

/// Notes which jobs have windows now, and why.
void Gangs::note(Ns now) {
    for (std::size_t job = 0; job < seen_.size(); job++) {
        auto &[stretches, why] = seen_[job];
        const auto report = windows_.report(scenario_.jobs[job].name);
        const bool goes_on = !stretches.empty() && stretches.back().end == never;
        if (report)
            why = report->why;
        if (report && report->has_windows && !goes_on)
            stretches.push_back({now, never});
        else if (goes_on && !(report && report->has_windows))
            stretches.back().end = now;
    }
}

Ns Gangs::time_in_windows(std::size_t job, Ns begin, Ns end) const {
    Ns time = 0;
    for (const Stretch &one : seen_[job].in_windows)
        time += std::max<Ns>(0, std::min(one.end, end) - std::max(one.begin, begin));
    return time;
}

} // namespace simulation
