// SPDX-License-Identifier: MIT OR GPL-2.0
#include "driver_plan.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <tuple>

namespace nvdebug::driver {
namespace {

/// Some drivers do not return it (580.159.04): it is then as TSGs are made (OGKM,
/// kernel_channel_group_api.c).
std::uint32_t interleave_of(Kernel &kernel, const Process &process, const ClientChannel &channel) {
    constexpr std::uint32_t medium = 1;
    rm::Interleave now{~std::uint32_t{0}};
    const Answer answer =
        ask_rm(kernel, process.controls[channel.control].here.number(), channel.client, channel.tsg,
               rm::Interleave::command, &now, sizeof(now));
    return answer.ok() && now.level <= rm::Interleave::highest ? now.level : medium;
}

Result<CallPlan> plan_enabling(const DriverTasks &tasks, const TaskRequest &request,
                               const OwnedChannels &channels) {
    const bool enable = request.control.verb == Verb::enable;
    const OwnedChannels changed = channels_to_change(tasks, channels, enable);
    if (enable && request.lease && std::ranges::any_of(changed, [&](const OwnedChannel *channel) {
            return !tasks.on_lists().place_of(*channel);
        }))
        return tl::unexpected(not_restorable("these channels", "whether they were enabled"));
    CallPlan plan;
    add_disable(plan.calls, tasks, changed, !enable);
    add_disable(plan.undo, tasks, changed, enable);
    return plan;
}

Result<CallPlan> plan_modes(const DriverTasks &tasks, const TaskRequest &request,
                            const std::vector<OwnedTsg> &tsgs) {
    CallPlan plan;
    for (const OwnedTsg &tsg : tsgs) {
        const auto context = context_mode(tasks, tsg);
        if (!context)
            continue; // copies have none
        const ClientChannel &channel = tasks.client_channel(*context->channel);
        rm::SetPreemptionMode mode{};
        mode.flags = rm::SetPreemptionMode::set_compute;
        mode.channel = channel.tsg; // measured: of a TSG it shows in the image
        mode.compute = static_cast<std::uint32_t>(request.values.front());
        plan.calls.push_back(call_of(channel, channel.subdevice, mode));
        mode.compute = static_cast<std::uint32_t>(context->mode);
        plan.undo.push_back(call_of(channel, channel.subdevice, mode));
    }
    if (plan.calls.empty())
        return tl::unexpected(not_restorable(
            "these processes", "the preemption mode (which only root may read, and only "
                               "compute work has)"));
    return plan;
}

} // namespace

void add_disable(std::vector<Call> &calls, const DriverTasks &tasks, const OwnedChannels &channels,
                 bool disable) {
    std::map<std::tuple<std::size_t, std::size_t, std::uint32_t, std::uint32_t>,
             std::vector<const ClientChannel *>>
        by_client;
    for (const OwnedChannel *const owned : channels) {
        const ClientChannel &channel = tasks.client_channel(*owned);
        by_client[{channel.process, channel.control, channel.client, channel.subdevice}].push_back(
            &channel);
    }
    for (const auto &[client, all] : by_client)
        for (std::size_t begin = 0; begin < all.size(); begin += rm::DisableChannels::most) {
            rm::DisableChannels request{};
            request.disable = disable;
            for (std::size_t n = begin; n < all.size() && request.count < rm::DisableChannels::most;
                 n++) {
                request.clients[request.count] = all[n]->client;
                request.channels[request.count++] = all[n]->channel;
            }
            calls.push_back(call_of(*all[begin], all[begin]->subdevice, request));
        }
}

OwnedChannels channels_to_change(const DriverTasks &tasks, const OwnedChannels &channels,
                                 bool enabled) {
    OwnedChannels changed;
    for (const OwnedChannel *const channel : channels) {
        const RunlistPlace *const place = tasks.on_lists().place_of(*channel);
        if (!place || place->channel->enabled != enabled)
            changed.push_back(channel);
    }
    return changed;
}

Error not_restorable(const std::string &owner, const std::string &value) {
    return {ErrorCode::unsupported, EOPNOTSUPP, "",
            value + " of " + owner +
                " is not known, so it could not be restored; nothing was changed"};
}

Result<void> check_shared(const DriverTasks &tasks, Pids pids) {
    const auto shared = tasks.on_lists().shared_with_others(pids);
    if (!shared)
        return {};
    return tl::unexpected(
        Error{ErrorCode::invalid, EINVAL, "",
              to_string(*shared->named) + " shares TSG " + to_string(shared->tsg) + " with " +
                  to_string(*shared->other) +
                  " (MPS), so that both would be changed; name all that share it"});
}

Result<CallPlan> make_plan(Kernel &kernel, const DriverTasks &tasks, const TaskRequest &request,
                           const OwnedChannels &channels) {
    if (!request.is_of_tsgs())
        return plan_enabling(tasks, request, channels);
    const std::vector<OwnedTsg> tsgs = tsgs_in(channels);
    if (tsgs.empty() || (!request.control.by_process && tsgs.size() != request.targets.size()))
        return tl::unexpected(Error{ErrorCode::invalid, EINVAL, "",
                                    tsgs.empty() ? "there is no TSG" : "a TSG is named twice"});
    if (auto whole = check_shared(tasks, request.pids); !whole)
        return tl::unexpected(whole.error());
    if (request.control.verb == Verb::mode)
        return plan_modes(tasks, request, tsgs);
    CallPlan plan;
    for (std::size_t n = 0; n < tsgs.size(); n++) {
        const ClientChannel &channel = tasks.client_channel(*tsgs[n].front());
        const Process &process = tasks.process(*tsgs[n].front());
        if (request.control.verb == Verb::preempt) {
            plan.calls.push_back(
                call_of(channel, channel.tsg, rm::Preempt{1, 1, rm::Preempt::longest_us}));
        } else if (request.control.verb == Verb::timeslice) {
            if (!channel.timeslice_us)
                return tl::unexpected(not_restorable(name_of(process), "a timeslice"));
            plan.calls.push_back(
                call_of(channel, channel.tsg, rm::SetTimeslice{request.value_of(n)}));
            plan.undo.push_back(
                call_of(channel, channel.tsg, rm::SetTimeslice{*channel.timeslice_us}));
            plan.undo.back().only_while_us = request.value_of(n);
        } else {
            const auto level = static_cast<std::uint32_t>(request.value_of(n));
            plan.calls.push_back(call_of(channel, channel.tsg, rm::SetInterleave{level}));
            plan.undo.push_back(call_of(
                channel, channel.tsg, rm::SetInterleave{interleave_of(kernel, process, channel)}));
        }
    }
    return plan;
}

} // namespace nvdebug::driver
