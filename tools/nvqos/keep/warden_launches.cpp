// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Which tasks have a limit of launches in flight, and which levers a tenant's tasks have.
#include <algorithm>
#include <fmt/format.h>

#include "lib/base/printable.hpp"
#include "warden.hpp"

namespace nvqos {

using nvdebug::base::printable;

const qos::Goal &Warden::goal_of(std::size_t tenant) const {
    return tenant < asked_.tenants.size() ? asked_.tenants[tenant].goal : asked_.others;
}

/// Clients of an MPS server have no turns of their own.
void Warden::keep_launches() {
    if (!launches_)
        return;
    std::vector<Launcher> launchers;
    for (const auto &[pid, task] : tasks_)
        if (task.has_turns)
            launchers.push_back(
                {&task.process, task.tenant, goal_of(task.tenant), *task.has_turns, task.page});
    launches_->keep(launchers, asked_.tpcs);
    for (const auto &[pid, task] : tasks_)
        if (!task.why_not.empty() && !launches_->paces(pid))
            warn_once(task.why_not);
    if (launches_->lacks_map())
        warn_once(fmt::format("gpu{}: TPCs are not divided, as none are known here: run 'nvtaskset "
                              "--list' once, with the same HOME as nvqos",
                              number_));
    for (const Launcher &one : launchers)
        if (one.goal.p99 && !launches_->requests(one.tenant))
            warn_once(
                fmt::format("gpu{}: whether requests of {} take more than {:g} ms is not seen: "
                            "start it with 'nvtaskset --prepare'",
                            number_, printable(asked_.tenants[one.tenant].name),
                            static_cast<double>(one.goal.p99) / static_cast<double>(qos::ms)));
    for (const Launcher &one : launchers)
        if (one.goal.aim == qos::Aim::best_effort && launches_->has_old_library(one.process->pid))
            warn_once(fmt::format(
                "gpu{}: launches of {}[{}] are not limited: it has the library of an "
                "earlier nvtaskset; start it again",
                number_, printable(one.process->command.value_or("process")), one.process->pid));
}

/// Speeds that are kept by launches are judged by them, and so are times of requests.
void Warden::judge_launches(qos::EpochRecord &epoch) const {
    for (std::size_t n = 0; launches_ && n < epoch.tenants.size(); n++) {
        if (const auto pace = launches_->pace(n))
            epoch.tenants[n].kept = !pace->speed || *pace->speed >= goal_of(n).part - qos::point;
        if (const auto requests = launches_->requests(n);
            requests && requests->late * 100 > requests->recent)
            epoch.tenants[n].kept = false;
    }
}

/// Clients of an MPS server have one timeslice in common, which is nobody's to set. --dry-run holds
/// none, and prints what would be set.
std::size_t Warden::held_of(std::size_t tenant) const {
    return static_cast<std::size_t>(std::ranges::count_if(tasks_, [&](const auto &one) {
        return one.second.tenant == tenant && (!one.second.holds.empty() || options_.dry_run);
    }));
}

Limited Warden::limited_of(std::size_t tenant) const {
    Limited limited;
    for (const auto &[pid, task] : tasks_)
        if (const auto limit = task.tenant == tenant && launches_ ? launches_->limit(pid) : 0) {
            limited.tasks++;
            limited.launches = limited.launches ? std::min(limited.launches, limit) : limit;
        }
    return limited;
}

std::size_t Warden::paced_of(std::size_t tenant) const {
    return static_cast<std::size_t>(std::ranges::count_if(tasks_, [&](const auto &one) {
        return one.second.tenant == tenant && launches_ && launches_->counts(one.first);
    }));
}

int Warden::tpcs_of(std::size_t tenant) const {
    if (!launches_ || !paced_of(tenant))
        return 0;
    const auto pace = launches_->pace(tenant);
    return pace ? pace->tpcs : launches_->tpcs_of_others();
}

} // namespace nvqos
