// SPDX-License-Identifier: MIT OR GPL-2.0
#include "driver_tasks.hpp"

#include "lib/base/text.hpp"
#include "lib/driver/rights.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

namespace nvdebug::driver {
namespace {

Place place_of(const std::optional<rm::MemoryInfo> &info) {
    if (!info)
        return {};
    return {info->address, info->aperture == rm::MemoryInfo::video      ? Aperture::video
                           : info->aperture == rm::MemoryInfo::coherent ? Aperture::coherent
                                                                        : Aperture::noncoherent};
}

/// Converts the facts that requests need; the counts of skipped processes are not among them.
Owners owners_of(const Owned &owned) {
    Owners owners;
    for (const Process &process : owned.processes)
        owners.processes.push_back(
            {process.pid, process.command, process.cgroup, process.uid, process.started});
    for (const ClientChannel &channel : owned.channels)
        owners.channels.push_back(
            {owned.processes[channel.process].pid, channel.client,
             channel.tsg ? std::optional(channel.tsg) : std::nullopt,
             channel.timeslice_us ? std::optional(*channel.timeslice_us * ns_per_us) : std::nullopt,
             channel.channel, place_of(channel.instance)});
    return owners;
}

/// Returns the error of a request without the necessary rights, with the rights that it needs.
Error not_allowed(Kernel &kernel, std::uint32_t pid) {
    const std::string scope = kernel.read("/proc/sys/kernel/yama/ptrace_scope");
    const bool strict = !scope.empty() && scope.front() != '0';
    return {ErrorCode::denied, EPERM, "",
            "process " + std::to_string(pid) +
                " can be changed only with the right to trace it (ptrace), which this user lacks: "
                "it takes root "
                "(CAP_SYS_PTRACE), or the process's own user" +
                (strict ? " where kernel.yama.ptrace_scope is 0 (it is " +
                              scope.substr(0, scope.find('\n')) + " here)"
                        : std::string()) +
                "; " + driver::advice_on_right(kernel, "CAP_SYS_PTRACE")};
}

/// Returns why no channel of a process was found.
Error why_not_found(Kernel &kernel, const DriverTasks &tasks, std::uint32_t pid) {
    if (!start_of(kernel, pid))
        return {ErrorCode::not_found, ESRCH, "", "there is no process " + std::to_string(pid)};
    const Owned &owned = tasks.owned();
    const auto process = std::ranges::find(owned.processes, pid, &Process::pid);
    const bool open = process != owned.processes.end();
    if (std::ranges::count(owned.hidden, pid) || (open && process->denied))
        return not_allowed(kernel, pid);
    if (owned.trouble)
        return {code_of_errno(owned.trouble), owned.trouble, "",
                "process " + std::to_string(pid) +
                    " cannot be looked at: " + ::strerrordesc_np(owned.trouble)};
    const std::string name =
        "process " + std::to_string(pid) + " (" + text::printable(command_of(kernel, pid)) + ")";
    if (std::ranges::count(owned.cut, pid))
        return {
            ErrorCode::unsupported, EFBIG, "",
            name +
                " has more descriptors, clients or objects of NVIDIA's driver than are queried; no "
                "channels are among those that were"};
    return {ErrorCode::not_found, 0, "",
            name + " has no GPU context here" +
                (open ? ", though it has the GPU open: it has made none yet, or uses its parent's, "
                        "or names "
                        "what it made in an unknown way; "
                      : "; ") +
                describe_owners(tasks.owners())};
}

/// Returns a channel of the process that made the channel or TSG @p id of the list.
Result<const OwnedChannel *> owner_of(const DriverTasks &tasks, const Runlist &list,
                                      const TaskRequest &request, std::uint32_t id) {
    OwnedChannels found;
    for (const auto &[channel, tsg, entries] : channels_of(list))
        if (request.is_of_tsgs() ? tsg && tsg->id == id : channel->id == id)
            std::ranges::copy(tasks.on_lists().claimants(*channel), std::back_inserter(found));
    const std::string what =
        (request.is_of_tsgs() ? "TSG " : "channel ") + to_string(Target{list.id, id});
    if (found.empty())
        return tl::unexpected(Error{
            ErrorCode::unsupported, EOPNOTSUPP, "",
            what +
                " belongs to no known process: NVIDIA's driver may have made it for itself, or its "
                "process may not be queried (that takes CAP_SYS_PTRACE); the module changes any"});
    // Several processes may have channels in a TSG (MPS), but a channel belongs to one.
    if (!request.is_of_tsgs() && found.size() > 1)
        return tl::unexpected(
            Error{ErrorCode::busy, EBUSY, "", what + " is claimed by two processes; try again"});
    return found.front();
}

} // namespace

DriverTasks::DriverTasks(Owned owned, std::vector<Runlist> lists)
    : owned_(std::move(owned)), on_lists_(owners_of(owned_), std::move(lists)) {}

const ClientChannel &DriverTasks::client_channel(const OwnedChannel &channel) const {
    return owned_.channels[static_cast<std::size_t>(&channel - owners().channels.data())];
}

const Process &DriverTasks::process(const OwnedChannel &channel) const {
    return owned_.processes[client_channel(channel).process];
}

Detail detail_for(const TaskRequest &request) {
    return request.control.verb == Verb::mode ? Detail::full : Detail::brief;
}

Result<DriverTasks> find_tasks(Ownership &ownership, const Card &card, const TaskRequest &request,
                               const ReadLists &read_lists) {
    // The lists are read first, so that objects that end in between are not found.
    auto lists = read_lists(detail_for(request));
    if (!lists)
        return tl::unexpected(lists.error());
    auto owned = ownership.find(card);
    // The search may have skipped old names of clients, so all names are searched before a process
    // counts as not using the GPU.
    if (owned && std::ranges::any_of(owned->processes, [&](const Process &process) {
            return std::ranges::count(request.pids, process.pid) && process.controls.empty() &&
                   !process.denied;
        }))
        owned = ownership.find(card, true);
    if (!owned)
        return tl::unexpected(owned.error());
    return DriverTasks(std::move(*owned), std::move(*lists));
}

std::string name_of(const Process &process) {
    return to_string(nvdebug::Process{process.pid, process.command, {}});
}

Result<OwnedChannels> find_channels(Kernel &kernel, const DriverTasks &tasks,
                                    const TaskRequest &request) {
    OwnedChannels meant;
    for (const std::uint32_t pid : request.pids) {
        const std::size_t before = meant.size();
        for (const OwnedChannel &channel : tasks.owners().channels)
            if (channel.pid == pid)
                meant.push_back(&channel);
        if (meant.size() == before)
            return tl::unexpected(why_not_found(kernel, tasks, pid));
    }
    for (const Target &target : request.targets) {
        const auto holder = holder_of(tasks.on_lists().lists(), target,
                                      request.is_of_tsgs() ? Listed::tsg : Listed::channel);
        if (!holder)
            return tl::unexpected(holder.error());
        const auto channel = owner_of(tasks, **holder, request, target.id);
        if (!channel)
            return tl::unexpected(channel.error());
        meant.push_back(*channel);
    }
    return meant;
}

std::vector<OwnedTsg> tsgs_in(const OwnedChannels &channels) {
    std::vector<OwnedTsg> tsgs = tsgs_of(channels);
    std::erase_if(tsgs, [](const OwnedTsg &tsg) { return !tsg.front()->tsg; });
    return tsgs;
}

std::optional<ContextMode> context_mode(const DriverTasks &tasks, const OwnedTsg &tsg) {
    for (const OwnedChannel *const owned : tsg) {
        const RunlistPlace *const place = tasks.on_lists().place_of(*owned);
        if (!place || !place->channel->instance || !place->channel->instance->context)
            continue;
        const std::string word = place->channel->instance->context->compute_preemption.value_or("");
        for (const PreemptionMode mode :
             {PreemptionMode::wfi, PreemptionMode::cta, PreemptionMode::cilp})
            if (text::same_in_any_case(word, nvdebug::name_of(mode)))
                return ContextMode{owned, mode};
    }
    return std::nullopt;
}

} // namespace nvdebug::driver
