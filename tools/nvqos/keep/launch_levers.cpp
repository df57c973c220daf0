// SPDX-License-Identifier: MIT OR GPL-2.0
#include "launch_levers.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "lib/base/printable.hpp"

namespace nvqos {

using nvdebug::base::printable;

void LaunchLevers::keep() {
    std::vector<Launcher> launchers;
    for (const auto &[pid, task] : tasks_.all())
        if (task.has_turns)
            launchers.push_back({&task.process, task.tenant, tenants_.goal(task.tenant),
                                 *task.has_turns, task.page});
    launches_.keep(launchers, tenants_.goals().tpcs);
    for (const auto &[pid, task] : tasks_.all())
        if (!task.why_not.empty() && !launches_.paces(pid))
            warnings_.once(task.why_not);
    if (launches_.lacks_map())
        warnings_.once("TPCs are not divided, as none are known here: run 'nvtaskset --list' once, "
                       "with the same HOME as nvqos");
    for (const Launcher &one : launchers)
        if (one.goal.p99 && !launches_.requests(one.tenant))
            warnings_.once(
                fmt::format("whether requests of {} take more than {:g} ms is not seen: start it "
                            "with 'nvtaskset --prepare'",
                            printable(tenants_[one.tenant].asked.name),
                            static_cast<double>(one.goal.p99) / static_cast<double>(qos::ms)));
    for (const Launcher &one : launchers)
        if (one.goal.aim == qos::Aim::best_effort && launches_.has_old_library(one.process->pid))
            warnings_.once(fmt::format(
                "launches of {}[{}] are not limited: it has the library of an earlier nvtaskset; "
                "start it again",
                printable(one.process->command.value_or("process")), one.process->pid));
}

void LaunchLevers::judge(qos::EpochRecord &epoch) const {
    for (std::size_t n = 0; n < epoch.tenants.size(); n++) {
        if (const auto pace = launches_.pace(n)) {
            epoch.tenants[n].kept =
                !pace->speed || *pace->speed >= tenants_.goal(n).part - qos::point;
            epoch.tenants[n].is_unseen = false;
        }
        if (const auto requests = launches_.requests(n);
            requests && requests->late * 100 > requests->recent)
            epoch.tenants[n].kept = false;
    }
}

bool LaunchLevers::has_recent_request(std::size_t tenant) const {
    const auto requests = launches_.requests(tenant);
    return requests && requests->recent > 0;
}

void LaunchLevers::describe(std::size_t tenant, TenantReport &line) const {
    line.limited = limited(tenant);
    line.paced = paced(tenant);
    line.pace = launches_.pace(tenant);
    line.requests = launches_.requests(tenant);
    if (line.paced)
        line.tpcs = line.pace ? line.pace->tpcs : launches_.tpcs_of_others();
}

Limited LaunchLevers::limited(std::size_t tenant) const {
    Limited limited;
    for (const auto &[pid, task] : tasks_.all())
        if (const auto limit = task.tenant == tenant ? launches_.limit(pid) : 0) {
            limited.tasks++;
            limited.launches = limited.launches ? std::min(limited.launches, limit) : limit;
        }
    return limited;
}

std::size_t LaunchLevers::paced(std::size_t tenant) const {
    return static_cast<std::size_t>(std::ranges::count_if(tasks_.all(), [&](const auto &one) {
        return one.second.tenant == tenant && launches_.counts(one.first);
    }));
}

} // namespace nvqos
