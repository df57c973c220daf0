// SPDX-License-Identifier: MIT OR GPL-2.0
#include "driver_hold.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "driver_plan.hpp"
#include "driver_restore.hpp"
#include "lib/driver/hold.hpp"
#include "task_request.hpp"

namespace nvdebug::driver {
namespace {

/// The arguments of Hold::start().
struct Planned {
    HeldCalls calls;
    std::vector<HeldChannel> channels;
};

/// Plans the calls for the timeslices and channels of tasks, except channels of other holds.
/// Channels that were disabled before helpers changed them stay disabled.
Result<Planned> held_calls(const DriverTasks &tasks, const OwnedChannels &channels,
                           const HoldOptions &options, const Originals &originals) {
    Planned planned;
    HeldCalls &calls = planned.calls;
    const std::set<HeldChannel> except(options.except.begin(), options.except.end());
    const auto is_left_out = [&](const OwnedChannel *channel) {
        return except.contains({channel->client, channel->channel});
    };
    OwnedChannels own = channels;
    std::erase_if(own, is_left_out);
    for (const OwnedChannel *const channel : own)
        planned.channels.push_back({channel->client, channel->channel});
    OwnedChannels changed = own;
    std::erase_if(changed, [&](const OwnedChannel *channel) {
        return was_enabled(tasks, *channel, originals) == false;
    });
    add_disable(calls.disable, tasks, changed, true);
    add_disable(calls.enable, tasks, changed, false);
    for (const OwnedTsg &tsg : tsgs_in(channels)) {
        const RunlistPlace *const place = tasks.on_lists().place_of(tsg);
        if (std::ranges::any_of(tsg, is_left_out) ||
            (options.runlist && !tasks.on_lists().lists().empty() &&
             (!place || place->runlist != *options.runlist)))
            continue;
        const ClientChannel &channel = tasks.client_channel(*tsg.front());
        const auto before = timeslice_before(tasks, *tsg.front(), originals);
        if (!before)
            return tl::unexpected(
                not_restorable(name_of(tasks.process(*tsg.front())), "a timeslice"));
        calls.set.push_back(call_of(channel, channel.tsg, rm::SetTimeslice{*before}));
        calls.look.push_back(call_of(channel, channel.tsg, rm::Timeslice{0}));
        calls.before_us.push_back(*before);
    }
    return planned;
}

Result<Planned> plan(Kernel &kernel, const DriverTasks &tasks, const TaskRequest &request,
                     const HoldOptions &options, const WrittenDown &written) {
    const auto channels = find_channels(kernel, tasks, request);
    if (!channels)
        return tl::unexpected(channels.error());
    if (auto whole = check_shared(tasks, request.pids); !whole)
        return tl::unexpected(whole.error());
    if (auto undone = check_undone(written, tasks, *channels); !undone)
        return tl::unexpected(undone.error());
    return held_calls(tasks, *channels, options, written.originals);
}

/// Moves the processes of the calls out of @p all. Fails if another hold has one of them already.
Result<std::vector<Process>> take_processes(std::vector<Process> &all, HeldCalls &calls) {
    std::vector<Process> taken;
    std::map<std::size_t, std::size_t> numbers; // index in `taken`
    for (auto *const list : {&calls.disable, &calls.enable, &calls.set, &calls.look})
        for (Call &call : *list) {
            const auto [number, fresh] = numbers.try_emplace(call.process, taken.size());
            Process &process = all[call.process];
            if (fresh && process.held.number() < 0)
                return tl::unexpected(
                    Error{ErrorCode::invalid, EINVAL, "",
                          "process " + std::to_string(process.pid) + " is named twice"});
            if (fresh)
                taken.push_back(std::move(process));
            call.process = number->second;
        }
    return taken;
}

} // namespace

Result<TaskHolds> hold(const std::shared_ptr<Kernel> &kernel, Ownership &ownership,
                       const Card &card, const std::vector<std::vector<std::uint32_t>> &groups,
                       const HoldOptions &options, const ReadLists &read_lists) {
    TaskRequest request{*find_control("set_task_timeslice")};
    request.lease = true;
    for (const auto &pids : groups)
        request.pids.insert(request.pids.end(), pids.begin(), pids.end());
    auto tasks = find_restored(kernel, ownership, card, request, read_lists);
    if (!tasks)
        return tl::unexpected(tasks.error());
    const WrittenDown written = written_down(card);
    std::vector<Result<Planned>> plans;
    for (const auto &pids : groups) {
        request.pids = pids;
        plans.push_back(plan(*kernel, *tasks, request, options, written));
    }
    TaskHolds holds;
    for (auto &planned : plans)
        holds.push_back(planned.and_then([&](Planned &one) {
            return take_processes(tasks->processes(), one.calls)
                .and_then([&](std::vector<Process> processes) {
                    return Hold::start(kernel, card.pci_address, std::move(processes),
                                       std::move(one.calls), std::move(one.channels), options);
                });
        }));
    return holds;
}

} // namespace nvdebug::driver
