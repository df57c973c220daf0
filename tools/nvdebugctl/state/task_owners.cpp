// SPDX-License-Identifier: MIT OR GPL-2.0
#include "task_owners.hpp"

#include <utility>

#include "cli/json.hpp"

namespace nvdebugctl {

using nvdebug::Occupant;

void TaskOwners::add(const nvdebug::Runlist &list, const nvdebug::Owners &owners) {
    std::map<Task, std::vector<const nvdebug::Channel *>> channels;
    for (const nvdebug::ListedChannel &listed : nvdebug::channels_of(list)) {
        const Occupant task = listed.tsg ? Occupant{Occupant::Kind::tsg, listed.tsg->id}
                                         : Occupant{Occupant::Kind::channel, listed.channel->id};
        channels[{list.id, task.kind, task.id}].push_back(listed.channel);
    }
    for (const auto &[task, its] : channels)
        if (auto found = owners_of(its, owners); !found.empty())
            tasks_[task] = std::move(found);
}

std::vector<nvdebug::Process> TaskOwners::of(const std::optional<std::uint32_t> &runlist,
                                             const std::optional<Occupant> &task) const {
    if (!runlist || !task)
        return {};
    const auto found = tasks_.find({*runlist, task->kind, task->id});
    return found == tasks_.end() ? std::vector<nvdebug::Process>() : found->second;
}

} // namespace nvdebugctl
