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

/// Of best effort beside tenants that are served first: what such a task has queued is before their
/// next request.
void Warden::limit_launches() {
    if (!launches_)
        return;
    const auto has_aim = [&](const auto &one, qos::Aim aim) {
        return goal_of(one.second.tenant).aim == aim;
    };
    std::vector<const nvdebug::Process *> behind;
    if (std::ranges::any_of(tasks_,
                            [&](const auto &one) { return has_aim(one, qos::Aim::latency); }))
        for (const auto &one : tasks_)
            if (has_aim(one, qos::Aim::best_effort))
                behind.push_back(&one.second.process);
    launches_->keep(behind);
    for (const nvdebug::Process *const process : behind)
        if (launches_->has_old_library(process->pid))
            warn_once(fmt::format(
                "gpu{}: launches of {}[{}] are not limited: it has the library of an "
                "earlier nvtaskset; start it again",
                gpu_.index(), printable(process->command.value_or("process")), process->pid));
}

/// Clients of an MPS server have one timeslice in common, which is nobody's to set. --dry-run holds
/// none, and prints what would be set.
std::size_t Warden::held_of(std::size_t tenant) const {
    return static_cast<std::size_t>(std::ranges::count_if(tasks_, [&](const auto &one) {
        return one.second.tenant == tenant && (one.second.hold || options_.dry_run);
    }));
}

std::size_t Warden::limited_of(std::size_t tenant) const {
    return static_cast<std::size_t>(std::ranges::count_if(tasks_, [&](const auto &one) {
        return one.second.tenant == tenant && launches_ && launches_->limits(one.first);
    }));
}

} // namespace nvqos
