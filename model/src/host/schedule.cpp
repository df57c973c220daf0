// SPDX-License-Identifier: MIT OR GPL-2.0
// Selects the next group of a runlist, and changes over to it.
#include "host/host.hpp"

#include "regs/ramin.hpp"

#include <algorithm>
#include <utility>

namespace nvmodel {

/// Returns whether a channel may be selected: enabled, bound, not faulted, known to have work and
/// not merely waiting.
bool Host::serviceable(const Channel &channel) const {
    if (!enabled(channel) || channel.faulted() || !channel.has_work())
        return false;
    if (board_.generation->channel_state == ChannelState::pccsr && !channel.bound)
        return false;
    if (!channel.pending && !channel.busy())
        return false;
    return !(channel.waits_on_acquire() && channel.work->what.switch_tsg);
}

/// Returns whether a group may be selected. A faulted channel keeps its whole TSG off until the
/// fault is handled.
bool Host::serviceable(const Runlist &runlist, const Group &group) const {
    bool any = false;
    for (const ListedChannel &listed : group.channels) {
        if (!usable(runlist, listed))
            continue;
        const Channel &channel = channels_[index_of(runlist, listed)];
        if (channel.faulted())
            return false;
        any = any || serviceable(channel);
    }
    return any;
}

/// Returns the first serviceable group at or after `from`, wrapping round. If a channel that was
/// announced has no work, or waits on a semaphore, this is noted in the channel, as Host would find
/// it by loading the channel.
std::optional<std::size_t> Host::select(Runlist &runlist, std::size_t from) {
    const std::size_t count = runlist.groups.size();
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = (from + i) % count;
        const Group &group = runlist.groups[at];
        for (const ListedChannel &listed : group.channels) {
            if (!usable(runlist, listed))
                continue;
            Channel &channel = channels_[index_of(runlist, listed)];
            if (!enabled(channel) || !channel.pending)
                continue;
            if (!channel.has_work())
                channel.pending = false;
            else if (channel.waits_on_acquire())
                channel.acquire_fail = true;
        }
        if (serviceable(runlist, group))
            return at;
    }
    return std::nullopt;
}

/// Starts a group if nothing runs. An idle list sleeps, so this is called only for a reason: a
/// doorbell, a new list, an opened gate, a finished preempt.
void Host::evaluate(Runlist &runlist) {
    if (runlist.current || runlist.switching() || runlist.gated)
        return;
    if (const auto next = select(runlist, runlist.cursor))
        switch_to(runlist, next, runlist.groups[*next].timeslice.duration());
}

/// Ends the timeslice: the next serviceable group follows, or the same group with a new slice.
void Host::end_slice(Runlist &runlist) {
    const Group &group = runlist.groups[*runlist.current];
    if (runlist.gated) { // the gate keeps the running group
        runlist.slice_end += group.timeslice.duration();
        return;
    }
    for (const unsigned e : runlist.engines) {
        const std::vector<std::size_t> running = engines_[e].channels;
        for (const std::size_t index : running)
            if (!enabled(channels_[index]))
                leave_unit(index);
    }
    const auto next = select(runlist, *runlist.current + 1);
    if (next && runlist.groups[*next].id == group.id) {
        runlist.current = next;
        runlist.cursor = *next;
        runlist.slice_end += runlist.groups[*next].timeslice.duration();
        return;
    }
    switch_to(runlist, next, next ? runlist.groups[*next].timeslice.duration() : 0);
}

/// Ends the current group's turn early if none of its channels has work left on this runlist.
void Host::leave_if_exhausted(Runlist &runlist) {
    if (!runlist.current || runlist.switching())
        return;
    const Group &group = runlist.groups[*runlist.current];
    for (const unsigned number : runlist.pbdmas)
        for (const PbdmaClient &client : pbdmas_[number].clients)
            if (client.runlist == runlist.id)
                return;
    for (const unsigned e : runlist.engines)
        if (engines_[e].context.holds() == group.id && !engines_[e].channels.empty())
            return;
    const auto next = runlist.gated ? std::nullopt : select(runlist, *runlist.current + 1);
    switch_to(runlist, next, next ? runlist.groups[*next].timeslice.duration() : 0);
}

/// Begins the change-over to a group (or to none). Engines that the next group neither uses nor
/// claims keep their context, and its work goes on: only engines that the next group needs are
/// preempted. `evict` names contexts that must be off every engine at the end.
void Host::switch_to(Runlist &runlist, std::optional<std::size_t> next, Ns slice,
                     const Evict &evict) {
    const Group *const group = next ? &runlist.groups[*next] : nullptr;
    const bool pbdmas_change = change_pbdmas(runlist, group);
    const bool engines_change = change_engines(runlist, group, evict);
    if (runlist.current && !next)
        runlist.cursor = *runlist.current + 1;
    runlist.current = next;
    if (next)
        runlist.cursor = *next;
    runlist.slice_left = slice;
    runlist.slice_end = never;
    const Ns takes = engines_change  ? switch_time(runlist)
                     : pbdmas_change ? board_.timing.channel_switch
                                     : 0;
    runlist.switched_at = takes == SwitchTime::open ? takes : now_ + takes;
}

/// Returns the longest of the times that the runlist's engines take to change their context.
Ns Host::switch_time(const Runlist &runlist) const {
    if (switch_times_ == nullptr)
        return board_.timing.context_switch;
    Ns longest = 0;
    for (const unsigned e : runlist.engines)
        if (engines_[e].context.changing())
            longest = std::max(longest, switch_times_->of(engines_[e]));
    return longest;
}

/// Takes the runlist's channels off its PBDMAs. Returns whether any PBDMA changes.
bool Host::change_pbdmas(Runlist &runlist, const Group *next) {
    bool any = false;
    for (const unsigned number : runlist.pbdmas) {
        Pbdma &pbdma = pbdmas_[number];
        const PbdmaClient *const loaded = pbdma.loaded();
        const bool ours = loaded != nullptr && loaded->runlist == runlist.id;
        const GroupId from = ours ? loaded->group : GroupId{};
        remove_clients_of(number, runlist.id);
        const bool wanted =
            next != nullptr && std::ranges::any_of(next->channels, [&](const ListedChannel &l) {
                return usable(runlist, l) && pbdma_for(runlist, l) == number &&
                       serviceable(channels_[index_of(runlist, l)]);
            });
        if ((!ours && !wanted) || !pbdma.clients.empty())
            continue;
        any = true;
        const ContextState state =
            ours ? (wanted ? ContextState::switching : ContextState::save) : ContextState::load;
        pbdma.change = {runlist.id, {state, from, wanted ? next->id : GroupId{}}};
    }
    return any;
}

/// Starts the context changes of the runlist's engines. Returns whether there are any.
bool Host::change_engines(Runlist &runlist, const Group *next, const Evict &evict) {
    std::vector<std::optional<std::size_t>> users(engines_.size());
    bool claims_copies = false;
    if (next != nullptr) {
        for (const ListedChannel &listed : next->channels) {
            if (!usable(runlist, listed))
                continue;
            const std::size_t index = index_of(runlist, listed);
            const Channel &channel = channels_[index];
            if (!channel.work)
                continue;
            // Channels for compute may bring copies along, so their TSG takes the copy engines
            // of its runlist away from others even if it copies nothing now (RTAS'24, Fig. 9).
            if (engines_[channel.work->engine].row.name.type == EngineType::gr)
                claims_copies = true;
            if (serviceable(channel) && !users[channel.work->engine])
                users[channel.work->engine] = index;
        }
    }
    bool any = false;
    for (const unsigned e : runlist.engines) {
        Engine &engine = engines_[e];
        const auto held = engine.context.holds();
        const bool claimed = users[e] || (claims_copies && is_copy_engine(engine.row.name.type));
        const bool stays = held && !(evict && evict(*held)) &&
                           (!claimed || (next != nullptr && *held == next->id));
        if (stays || (!held && !users[e]))
            continue;
        any = true;
        const std::vector<std::size_t> running = engine.channels;
        for (const std::size_t index : running)
            leave_engine(index);
        engine.next_instance = users[e];
        engine.context.begin(users[e] ? std::optional(next->id) : std::nullopt);
    }
    return any;
}

/// Reports a change of context that is about to be completed.
void Host::tell_listener(const Engine &engine) const {
    if (listener_ == nullptr || engine.row.name.type != EngineType::gr)
        return;
    const ContextState state = engine.context.status().state;
    if (state != ContextState::load && engine.instance)
        listener_->saved(channels_[*engine.instance].instance);
    if (state != ContextState::save && engine.next_instance)
        listener_->restored(channels_[*engine.next_instance].instance);
}

void Host::finish_switch(Runlist &runlist) {
    runlist.switched_at = never;
    for (const unsigned e : runlist.engines) {
        Engine &engine = engines_[e];
        if (!engine.context.changing())
            continue;
        tell_listener(engine);
        engine.context.finish();
        engine.instance = engine.next_instance;
        engine.next_instance.reset();
    }
    for (const unsigned number : runlist.pbdmas)
        if (pbdmas_[number].change && pbdmas_[number].change->runlist == runlist.id)
            pbdmas_[number].change.reset();
    if (runlist.preempting == Preempting::tsg)
        runlist.tsg_preempt_flag = false;
    if (runlist.preempting != Preempting::none) {
        (runlist.preempting == Preempting::tsg ? runlist.intr_tsg_preempt_complete
                                               : runlist.intr_runlist_preempt_complete) = true;
        runlist.preempting = Preempting::none;
    }
    if (runlist.current)
        start_slice(runlist);
    if (runlist.switching())
        return; // nothing could start: the rest waits for the next change-over
    if (runlist.list_waits)
        apply_list(runlist);
    start_waiting_preempts(runlist);
    evaluate(runlist);
}

void Host::start_slice(Runlist &runlist) {
    runlist.slice_end = rules_.timeslices ? now_ + runlist.slice_left : never;
    admit(runlist, runlist.groups[*runlist.current]);
    leave_if_exhausted(runlist); // all channels may be disabled by now
}

/// Takes the submitted list, which has arrived.
void Host::take_list(Runlist &runlist) {
    runlist.fetched_at = never;
    if (runlist.switching())
        runlist.list_waits = true;
    else
        apply_list(runlist);
    evaluate(runlist);
}

/// Decodes the list as it is in memory now; it is empty if the fetch is refused.
DecodedList Host::fetch_list(const Runlist &runlist) const {
    const EntryFormat format = board_.generation->entry;
    std::vector<std::uint32_t> words(std::size_t{runlist.length} * entry_size(format) / 4);
    if (!memory_.read_words(runlist.base, words))
        return {};
    return decode_list(*board_.generation, words);
}

/// Learns about channels from the list that names them, and the timeslice of a bare channel from
/// its instance block.
void Host::learn_channels(const Runlist &runlist, Group &group) {
    for (const ListedChannel &listed : group.channels) {
        const auto index = channel_index(runlist.id, listed.id);
        if (!index)
            continue;
        Channel &channel = channels_[*index];
        channel.runlist = runlist.id;
        if (board_.generation->entry_pointers_used) {
            channel.instance = listed.instance;
            channel.userd = listed.userd;
        }
        if (!group.id.is_tsg)
            group.timeslice = timeslice_of_instance(channel.instance);
    }
}

Timeslice Host::timeslice_of_instance(const PhysicalAddress &instance) const {
    using namespace regs::ramin;
    const auto value =
        memory_.read_value({instance.aperture, instance.address + 4 * fc_timeslice}, 4);
    const auto word = static_cast<std::uint32_t>(value.value_or(0));
    return {.timeout = fc_timeslice_timeout.get(word), .scale = fc_timeslice_scale.get(word)};
}

/// Breaks a rule: groups and channels that have left the list go on.
void Host::keep_unlisted(Runlist &runlist, const std::vector<Group> &before) const {
    for (const Group &old : before) {
        const auto same = std::ranges::find(runlist.groups, old.id, &Group::id);
        if (same == runlist.groups.end()) {
            runlist.groups.push_back(old);
            continue;
        }
        for (const ListedChannel &channel : old.channels)
            if (std::ranges::find(same->channels, channel.id, &ListedChannel::id) ==
                same->channels.end())
                same->channels.push_back(channel);
    }
}

/// Replaces the list. The running group gives way to the new list's first group, unless the gate is
/// closed.
void Host::apply_list(Runlist &runlist) {
    runlist.list_waits = false;
    std::optional<GroupId> ran;
    runlist.preempted_tsg.reset();
    if (runlist.current) {
        const Group &cut = runlist.groups[*runlist.current];
        ran = cut.id;
        runlist.preempted_tsg = cut.id.id;
        runlist.preempted_entry = cut.entry;
        runlist.current.reset(); // it is an index into the old list
    }

    DecodedList list = fetch_list(runlist);
    for (Group &group : list.groups)
        learn_channels(runlist, group);
    const std::vector<Group> before = std::exchange(runlist.groups, std::move(list.groups));
    if (!rules_.unlisted_stop)
        keep_unlisted(runlist, before);
    runlist.bad = list.bad;
    runlist.intr_bad_tsg = runlist.intr_bad_tsg || list.bad != BadTsg::none;
    const auto first = std::ranges::find_if(
        runlist.groups, [&runlist](const Group &group) { return group.entry >= runlist.offset; });
    runlist.cursor = first == runlist.groups.end()
                         ? 0
                         : static_cast<std::size_t>(first - runlist.groups.begin());

    const Evict unlisted = [&runlist](GroupId id) {
        return std::ranges::find(runlist.groups, id, &Group::id) == runlist.groups.end();
    };
    if (runlist.gated && ran && !unlisted(*ran)) { // the gate keeps the running group
        const auto same = std::ranges::find(runlist.groups, *ran, &Group::id);
        runlist.current = static_cast<std::size_t>(same - runlist.groups.begin());
        return;
    }
    const auto next = runlist.gated ? std::nullopt : select(runlist, runlist.cursor);
    switch_to(runlist, next, next ? runlist.groups[*next].timeslice.duration() : 0, unlisted);
}

/// Starts waiting preempts until one of them begins a switch; the others have to wait for its end.
void Host::start_waiting_preempts(Runlist &runlist) {
    while (!runlist.preempts_waiting.empty() && !runlist.switching()) {
        const auto [kind, id] = runlist.preempts_waiting.front();
        runlist.preempts_waiting.erase(runlist.preempts_waiting.begin());
        start_preempt(runlist, kind, id);
    }
}

void Host::request_preempt(Runlist &runlist, Preempting kind, GroupId group) {
    const std::pair asked(kind, group);
    if (!runlist.switching())
        start_preempt(runlist, kind, group);
    else if (std::ranges::find(runlist.preempts_waiting, asked) == runlist.preempts_waiting.end())
        runlist.preempts_waiting.push_back(asked);
    if (kind == Preempting::tsg && runlist.preempt_outstanding(kind))
        runlist.tsg_preempt_flag = true;
}

void Host::start_preempt(Runlist &runlist, Preempting kind, GroupId group) {
    const bool all = kind == Preempting::runlist;
    const bool is_current =
        runlist.current && (all || runlist.groups[*runlist.current].id == group);
    const bool resident = std::ranges::any_of(runlist.engines, [&](unsigned e) {
        const auto held = engines_[e].context.holds();
        return held && (all || *held == group);
    });
    if (!is_current && !resident) { // it is not there, so this is done at once
        (all ? runlist.intr_runlist_preempt_complete : runlist.intr_tsg_preempt_complete) = true;
        if (!all)
            runlist.tsg_preempt_flag = false;
        return;
    }
    runlist.preempting = kind;
    const Evict evict = [all, group](GroupId id) { return all || id == group; };
    if (is_current || !runlist.current) {
        switch_to(runlist, std::nullopt, 0, evict);
    } else {
        switch_to(runlist, runlist.current, runlist.slice_end - now_, evict);
    }
}

} // namespace nvmodel
