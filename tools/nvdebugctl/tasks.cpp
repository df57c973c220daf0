// SPDX-License-Identifier: MIT OR GPL-2.0
#include "tasks.hpp"

#include <algorithm>

#include "state.hpp"

namespace nvdebugctl {

using nvdebug::OwnedChannel;
using nvdebug::Owners;
using nvdebug::Runlist;

Places find_listed(const std::vector<Runlist> &lists, const Owners &owners) {
    Places found;
    for (const Runlist &list : lists)
        for (const auto &[channel, tsg, entries] : nvdebug::channels_of(list)) {
            if (!nvdebug::owner_of(owners, *channel))
                continue;
            for (const OwnedChannel &owned : owners.channels)
                if (owned.instance_place == channel->instance_place)
                    found[&owned] = {list.id, tsg ? std::optional(tsg->id) : std::nullopt, channel,
                                     tsg};
        }
    return found;
}

std::vector<Task> tasks_of(const Owners &owners, const nvdebug::Process &process) {
    std::vector<Task> tasks;
    std::map<std::pair<std::uint32_t, std::optional<std::uint32_t>>, std::size_t> known;
    for (const OwnedChannel &owned : owners.channels) {
        if (owned.pid != process.pid)
            continue;
        const auto [at, fresh] = known.try_emplace({owned.client, owned.tsg}, tasks.size());
        if (fresh || !owned.tsg)
            tasks.emplace_back();
        tasks[owned.tsg ? at->second : tasks.size() - 1].push_back(&owned);
    }
    return tasks;
}

const Listed *place_of(const Task &task, const Places &places) {
    for (const OwnedChannel *channel : task)
        if (const auto found = places.find(channel); found != places.end())
            return &found->second;
    return nullptr;
}

std::vector<Runlist> lists_of_tasks(Context &context) {
    auto lists = read_runlists(context, nvdebug::Detail::brief);
    if (lists)
        return std::move(*lists);
    nvdebug::Error error = lists.error().error;
    error.sentence = "which runlist and TSG it is, is not shown: " + error.sentence;
    context.missing(std::move(error));
    return {};
}

void say_passed_over(Context &context, const Owners &owners) {
    if (owners.denied || owners.refused)
        context.missing({nvdebug::ErrorCode::denied, 0, context.gpu().path("owners"),
                         "not all of it is shown: " + passed_over(owners)});
    else if (const std::string over = passed_over(owners); !over.empty())
        context.note("there may be more: " + over);
}

} // namespace nvdebugctl
