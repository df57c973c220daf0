// SPDX-License-Identifier: MIT OR GPL-2.0
#include "driver_plan.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <tuple>

namespace nvdebug::driver {
namespace {

/// Returns the interleave level of a TSG. Some drivers (580.159.04) do not return it; then it is
/// assumed to be the level with which TSGs are made (OGKM, kernel_channel_group_api.c).
std::uint32_t interleave_of(Kernel &kernel, const Process &process, const ClientChannel &channel) {
    constexpr std::uint32_t medium = 1;
    rm::Interleave now{~std::uint32_t{0}};
    const Answer answer =
        ask_rm(kernel, process.controls[channel.control].here.number(), channel.client, channel.tsg,
               rm::Interleave::command, &now, sizeof(now));
    return answer.ok() && now.level <= rm::Interleave::highest ? now.level : medium;
}

/// Returns the value that a property had before helpers changed it; @p now if none has.
template <typename T>
T original_or(const Originals &originals, const Property &property, T now) {
    const auto found = originals.find(property);
    return found == originals.end() ? now : static_cast<T>(found->second);
}

Result<CallPlan> plan_enabling(const DriverTasks &tasks, const TaskRequest &request,
                               const OwnedChannels &channels, const Originals &originals) {
    const bool enable = request.control.verb == Verb::enable;
    OwnedChannels undone, only_changed;
    for (const OwnedChannel *const channel : channels) {
        const auto before = was_enabled(tasks, *channel, originals);
        if (enable && request.lease && !before)
            return tl::unexpected(not_restorable("these channels", "whether they were enabled"));
        const RunlistPlace *const place = tasks.on_lists().place_of(*channel);
        if (before != enable)
            undone.push_back(channel);
        else if (!place || place->channel->enabled != enable)
            only_changed.push_back(channel); // a helper has changed it and will restore it
    }
    CallPlan plan;
    add_disable(plan.calls, tasks, undone, !enable);
    add_disable(plan.undo, tasks, undone, enable);
    add_disable(plan.calls, tasks, only_changed, !enable);
    return plan;
}

Result<CallPlan> plan_modes(const DriverTasks &tasks, const TaskRequest &request,
                            const std::vector<OwnedTsg> &tsgs, const Originals &originals) {
    CallPlan plan;
    for (const OwnedTsg &tsg : tsgs) {
        const auto context = context_mode(tasks, tsg);
        if (!context)
            continue; // copies have no context
        const ClientChannel &channel = tasks.client_channel(*context->channel);
        rm::SetPreemptionMode mode{};
        mode.flags = rm::SetPreemptionMode::set_compute;
        mode.channel = channel.tsg; // measured: a mode that is set for a TSG appears in the
                                    // context's image
        mode.compute = static_cast<std::uint32_t>(request.values.front());
        plan.calls.push_back(call_of(channel, channel.subdevice, mode));
        mode.compute =
            original_or(originals, property_of(tasks, *context->channel, Property::Kind::mode),
                        static_cast<std::uint32_t>(context->mode));
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

Property property_of(const DriverTasks &tasks, const OwnedChannel &channel, Property::Kind kind) {
    const ClientChannel &named = tasks.client_channel(channel);
    const Process &process = tasks.process(channel);
    return {kind, process.pid, process.started, named.client,
            kind == Property::Kind::channel ? named.channel : named.tsg};
}

std::optional<bool> was_enabled(const DriverTasks &tasks, const OwnedChannel &channel,
                                const Originals &originals) {
    const RunlistPlace *const place = tasks.on_lists().place_of(channel);
    return original_or(originals, property_of(tasks, channel, Property::Kind::channel),
                       place ? place->channel->enabled : std::nullopt);
}

std::optional<std::uint64_t> timeslice_before(const DriverTasks &tasks, const OwnedChannel &channel,
                                              const Originals &originals) {
    return original_or(originals, property_of(tasks, channel, Property::Kind::timeslice),
                       tasks.client_channel(channel).timeslice_us);
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
                           const OwnedChannels &channels, const Originals &originals) {
    if (!request.is_of_tsgs())
        return plan_enabling(tasks, request, channels, originals);
    const std::vector<OwnedTsg> tsgs = tsgs_in(channels);
    if (tsgs.empty() || (!request.control.by_process && tsgs.size() != request.targets.size()))
        return tl::unexpected(Error{ErrorCode::invalid, EINVAL, "",
                                    tsgs.empty() ? "there is no TSG" : "a TSG is named twice"});
    if (auto whole = check_shared(tasks, request.pids); !whole)
        return tl::unexpected(whole.error());
    if (request.control.verb == Verb::mode)
        return plan_modes(tasks, request, tsgs, originals);
    CallPlan plan;
    for (std::size_t n = 0; n < tsgs.size(); n++) {
        const ClientChannel &channel = tasks.client_channel(*tsgs[n].front());
        const Process &process = tasks.process(*tsgs[n].front());
        if (request.control.verb == Verb::preempt) {
            plan.calls.push_back(
                call_of(channel, channel.tsg, rm::Preempt{1, 1, rm::Preempt::longest_us}));
        } else if (request.control.verb == Verb::timeslice) {
            const auto before = timeslice_before(tasks, *tsgs[n].front(), originals);
            if (!before)
                return tl::unexpected(not_restorable(name_of(process), "a timeslice"));
            plan.calls.push_back(
                call_of(channel, channel.tsg, rm::SetTimeslice{request.value_of(n)}));
            plan.undo.push_back(call_of(channel, channel.tsg, rm::SetTimeslice{*before}));
            plan.undo.back().only_while_us = request.value_of(n);
        } else {
            const auto level = static_cast<std::uint32_t>(request.value_of(n));
            plan.calls.push_back(call_of(channel, channel.tsg, rm::SetInterleave{level}));
            const auto before = original_or(
                originals, property_of(tasks, *tsgs[n].front(), Property::Kind::interleave),
                interleave_of(kernel, process, channel));
            plan.undo.push_back(call_of(channel, channel.tsg, rm::SetInterleave{before}));
        }
    }
    return plan;
}

} // namespace nvdebug::driver
