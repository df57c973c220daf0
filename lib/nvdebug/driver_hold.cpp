// SPDX-License-Identifier: MIT OR GPL-2.0
#include "driver_hold.hpp"

#include "driver_plan.hpp"
#include "lib/driver/hold.hpp"
#include "task_request.hpp"

namespace nvdebug::driver {
namespace {

/// Calls for the timeslices of tasks, and for all of their channels.
Result<HeldCalls> held_calls(const DriverTasks &tasks, const OwnedChannels &channels,
                             std::optional<std::uint32_t> runlist) {
    HeldCalls calls;
    // What is disabled now stays so.
    const OwnedChannels changed = channels_to_change(tasks, channels, false);
    add_disable(calls.disable, tasks, changed, true);
    add_disable(calls.enable, tasks, changed, false);
    for (const OwnedTsg &tsg : tsgs_in(channels)) {
        const RunlistPlace *const place = tasks.on_lists().place_of(tsg);
        if (runlist && !tasks.on_lists().lists().empty() && (!place || place->runlist != *runlist))
            continue;
        const ClientChannel &channel = tasks.client_channel(*tsg.front());
        if (!channel.timeslice_us)
            return tl::unexpected(
                not_restorable(name_of(tasks.process(*tsg.front())), "a timeslice"));
        calls.set.push_back(call_of(channel, channel.tsg, rm::SetTimeslice{*channel.timeslice_us}));
        calls.look.push_back(call_of(channel, channel.tsg, rm::Timeslice{0}));
        calls.before_us.push_back(*channel.timeslice_us);
    }
    return calls;
}

} // namespace

Result<std::unique_ptr<TaskHold>> hold(const std::shared_ptr<Kernel> &kernel, Ownership &ownership,
                                       const Card &card, const std::vector<std::uint32_t> &pids,
                                       const HoldOptions &options, const ReadLists &read_lists) {
    TaskRequest request{*find_control("set_task_timeslice")};
    request.lease = true;
    request.pids = pids;
    auto tasks = find_tasks(ownership, card, request, read_lists);
    if (!tasks)
        return tl::unexpected(tasks.error());
    const auto channels = find_channels(*kernel, *tasks, request);
    if (!channels)
        return tl::unexpected(channels.error());
    if (auto whole = check_shared(*tasks, pids); !whole)
        return tl::unexpected(whole.error());
    auto calls = held_calls(*tasks, *channels, options.runlist);
    if (!calls)
        return tl::unexpected(calls.error());
    return Hold::start(kernel, std::move(tasks->processes()), std::move(*calls), channels->size(),
                       options.patience);
}

} // namespace nvdebug::driver
