// SPDX-License-Identifier: MIT OR GPL-2.0
// Carries out the commands of software to Host.
#include "host/host.hpp"

#include <algorithm>

namespace nvmodel {

/// Submits a list. Once the list has been fetched, the timeslices of the old list expire.
void Host::submit(Runlist &runlist, PhysicalAddress base, unsigned length, unsigned offset) {
    runlist.base = base;
    runlist.length = length;
    runlist.offset = offset;
    runlist.fetched_at = now_ + board_.timing.list_fetch;
    runlist.list_waits = false;
}

/// Opens or closes the gate. With a closed gate nothing more is scheduled, and running work goes
/// on.
void Host::set_gate(Runlist &runlist, bool closed) {
    runlist.gated = closed;
    if (!closed)
        evaluate(runlist);
}

void Host::preempt(Runlist &runlist, GroupId group) {
    request_preempt(runlist, Preempting::tsg, group);
}

void Host::preempt_everywhere(GroupId group) {
    for (Runlist &runlist : runlists_)
        request_preempt(runlist, Preempting::tsg, group);
}

void Host::preempt_channel(unsigned id) {
    const auto index = channel_index(0, id);
    if (!index || !channels_[*index].runlist)
        return;
    Runlist &runlist = *find_runlist(*channels_[*index].runlist);
    for (const Group &group : runlist.groups)
        if (std::ranges::find(group.channels, id, &ListedChannel::id) != group.channels.end()) {
            request_preempt(runlist, Preempting::tsg, GroupId(group.id));
            return;
        }
}

void Host::preempt_runlist(Runlist &runlist) {
    request_preempt(runlist, Preempting::runlist, {});
}

/// Disabling only stops future selection: work on an engine runs to the end of the slice.
void Host::set_enabled(std::size_t index, bool enabled) {
    Channel &channel = channels_[index];
    if (channel.enabled == enabled)
        return;
    channel.enabled = enabled;
    if (!rules_.disabled_stop)
        return;
    if (enabled) {
        admit_late(index);
        if (board_.generation->enable_wakes && channel.runlist)
            evaluate(*find_runlist(*channel.runlist));
        return;
    }
    for (unsigned number = 0; number < pbdmas_.size(); ++number) {
        Pbdma &pbdma = pbdmas_[number];
        for (std::size_t i = 0; i < pbdma.clients.size(); ++i) {
            if (pbdma.clients[i].channel != index)
                continue;
            if (i == pbdma.turn)
                pbdma.clients[i].leaving = true;
            else
                remove_client(number, index);
            break;
        }
    }
}

void Host::set_faulted(std::size_t index, std::optional<bool> pbdma, std::optional<bool> engine) {
    Channel &channel = channels_[index];
    channel.pbdma_faulted = pbdma.value_or(channel.pbdma_faulted);
    channel.eng_faulted = engine.value_or(channel.eng_faulted);
    if (!channel.faulted() || !channel.runlist)
        return;
    Runlist &runlist = *find_runlist(*channel.runlist);
    take_off_groups_of(runlist, index); // a fault stops the whole TSG
    leave_if_exhausted(runlist);
}

void Host::bind(std::size_t index, PhysicalAddress instance, std::uint32_t target, bool bound) {
    Channel &channel = channels_[index];
    channel.instance = instance;
    channel.instance_target = target;
    channel.bound = bound;
}

void Host::end_switch(Runlist &runlist, Ns at) {
    if (runlist.switched_at == SwitchTime::open)
        runlist.switched_at = at;
}

void Host::ring(std::size_t index) {
    Channel &channel = channels_[index];
    if (!channel.busy())
        channel.pending = true;
    if (!channel.runlist)
        return;
    admit_late(index);
    evaluate(*find_runlist(*channel.runlist));
}

} // namespace nvmodel
