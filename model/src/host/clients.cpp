// SPDX-License-Identifier: MIT OR GPL-2.0
// Lets channels take turns on PBDMAs, and puts their work on engines.
#include "host/host.hpp"

#include <algorithm>

namespace nvmodel {

std::size_t Host::index_of(const Runlist &runlist, const ListedChannel &listed) const {
    return *channel_index(runlist.id, listed.id);
}

bool Host::usable(const Runlist &runlist, const ListedChannel &listed) const {
    if (listed.id >= board_.channels)
        return false;
    const Channel &channel = channels_[index_of(runlist, listed)];
    if (board_.generation->kepler_fifo_registers && channel.own_runlist != runlist.id)
        return false;
    return !channel.work || engines_[channel.work->engine].runlist == runlist.id;
}

/// Returns the PBDMA of a channel. A runqueue beyond the runlist's PBDMAs counts as 0 (GA100
/// manual, dev_ram).
unsigned Host::pbdma_for(const Runlist &runlist, const ListedChannel &listed) const {
    return runlist.pbdmas[listed.runqueue < runlist.pbdmas.size() ? listed.runqueue : 0];
}

/// Makes the serviceable channels of a group clients of their PBDMAs, in list order but starting
/// with the channel that NEXT marks.
void Host::admit(Runlist &runlist, const Group &group) {
    for (const unsigned number : runlist.pbdmas) {
        Pbdma &pbdma = pbdmas_[number];
        std::vector<PbdmaClient> clients;
        for (const ListedChannel &listed : group.channels) {
            if (!usable(runlist, listed) || pbdma_for(runlist, listed) != number)
                continue;
            const std::size_t index = index_of(runlist, listed);
            const bool listed_before =
                std::ranges::find(clients, index, &PbdmaClient::channel) != clients.end();
            if (serviceable(channels_[index]) && !listed_before)
                clients.push_back({runlist.id, group.id, index});
        }
        const auto first = std::ranges::find_if(
            clients, [this](const PbdmaClient &client) { return channels_[client.channel].next; });
        if (first != clients.end())
            std::rotate(clients.begin(), first, clients.end());
        if (clients.empty())
            continue;
        const bool was_empty = pbdma.clients.empty();
        pbdma.clients.insert(pbdma.clients.end(), clients.begin(), clients.end());
        if (was_empty) {
            pbdma.turn = 0;
            load_turn(number);
        }
    }
}

/// Admits a channel of the running group that became serviceable.
void Host::admit_late(std::size_t index) {
    const Channel &channel = channels_[index];
    Runlist *const runlist = channel.runlist ? find_runlist(*channel.runlist) : nullptr;
    if (runlist == nullptr || !runlist->current || runlist->switching() || !serviceable(channel))
        return;
    const Group &group = runlist->groups[*runlist->current];
    const auto listed = std::ranges::find_if(group.channels, [&](const ListedChannel &candidate) {
        return usable(*runlist, candidate) && index_of(*runlist, candidate) == index;
    });
    if (listed == group.channels.end())
        return;
    const Engine &engine = engines_[channel.work->engine];
    if (engine.context.holds() != group.id) {
        // The channel's engine has another context: change over again and keep the rest of the
        // slice.
        switch_to(*runlist, runlist->current, runlist->slice_end - now_);
        return;
    }
    const unsigned number = pbdma_for(*runlist, *listed);
    Pbdma &pbdma = pbdmas_[number];
    const auto client = std::ranges::find(pbdma.clients, index, &PbdmaClient::channel);
    if (client != pbdma.clients.end()) {
        client->leaving = false;
        if (channel.pbdma && !channel.engine) // it waited for a semaphore
            load_turn(number);
        return;
    }
    pbdma.clients.push_back({runlist->id, group.id, index});
    if (pbdma.clients.size() == 1) {
        pbdma.turn = 0;
        load_turn(number);
    }
}

/// Puts the client that has the turn on the PBDMA, and its work on the engine.
void Host::load_turn(unsigned number) {
    Pbdma &pbdma = pbdmas_[number];
    PbdmaClient &client = pbdma.clients[pbdma.turn];
    Channel &channel = channels_[client.channel];
    client.seen = true;
    pbdma.turn_began = now_;
    pbdma.last_channel = client.channel;
    channel.pbdma = number;
    channel.pending = false;
    channel.next = false;
    channel.ctx_reload = false;
    if (channel.waits_on_acquire()) {
        channel.acquire_fail = true;
        return;
    }
    if (channel.engine)
        return;
    Engine &engine = engines_[channel.work->engine];
    channel.engine = channel.work->engine;
    engine.channels.push_back(client.channel);
    if (is_copy_engine(engine.row.name.type))
        update_rates();
}

/// Takes the loaded channel off the PBDMA. If it has work left, it is pending again.
void Host::unload_turn(unsigned number) {
    Pbdma &pbdma = pbdmas_[number];
    Channel &channel = channels_[pbdma.clients[pbdma.turn].channel];
    channel.pbdma.reset();
    channel.pending = channel.has_work();
}

void Host::next_turn(unsigned number) {
    Pbdma &pbdma = pbdmas_[number];
    unload_turn(number);
    if (pbdma.clients[pbdma.turn].leaving) {
        pbdma.clients.erase(pbdma.clients.begin() + static_cast<std::ptrdiff_t>(pbdma.turn));
        if (pbdma.turn == pbdma.clients.size())
            pbdma.turn = 0;
    } else {
        pbdma.turn = (pbdma.turn + 1) % pbdma.clients.size();
    }
    const Ns began = pbdma.turn_began + pbdma_turn_ns;
    load_turn(number);
    pbdma.turn_began = std::min(began, now_);
}

void Host::remove_client(unsigned number, std::size_t index) {
    Pbdma &pbdma = pbdmas_[number];
    const auto found = std::ranges::find(pbdma.clients, index, &PbdmaClient::channel);
    if (found == pbdma.clients.end())
        return;
    const auto position = static_cast<std::size_t>(found - pbdma.clients.begin());
    const bool loaded = position == pbdma.turn;
    if (loaded)
        unload_turn(number);
    pbdma.clients.erase(found);
    if (position < pbdma.turn)
        --pbdma.turn;
    if (pbdma.turn >= pbdma.clients.size())
        pbdma.turn = 0;
    if (loaded && !pbdma.clients.empty())
        load_turn(number);
}

/// Ends the runlist's turn on the PBDMA. NEXT marks the channel that was loaded.
void Host::remove_clients_of(unsigned number, unsigned runlist) {
    Pbdma &pbdma = pbdmas_[number];
    if (const PbdmaClient *loaded = pbdma.loaded(); loaded && loaded->runlist == runlist) {
        const std::size_t index = loaded->channel;
        for (const PbdmaClient &client : pbdma.clients)
            if (client.runlist == runlist)
                channels_[client.channel].next = false;
        unload_turn(number);
        channels_[index].next = channels_[index].pending;
        std::erase_if(pbdma.clients,
                      [runlist](const PbdmaClient &client) { return client.runlist == runlist; });
        pbdma.turn = 0;
        if (!pbdma.clients.empty())
            load_turn(number);
        return;
    }
    const std::optional<std::size_t> stays =
        pbdma.loaded() ? std::optional(pbdma.loaded()->channel) : std::nullopt;
    std::erase_if(pbdma.clients,
                  [runlist](const PbdmaClient &client) { return client.runlist == runlist; });
    if (stays) {
        const auto found = std::ranges::find(pbdma.clients, *stays, &PbdmaClient::channel);
        pbdma.turn = static_cast<std::size_t>(found - pbdma.clients.begin());
    }
}

/// Takes the channel's work off its engine. Work that is left makes the channel pending.
void Host::leave_engine(std::size_t index) {
    Channel &channel = channels_[index];
    if (!channel.engine)
        return;
    Engine &engine = engines_[*channel.engine];
    std::erase(engine.channels, index);
    channel.engine.reset();
    if (!channel.pbdma)
        channel.pending = channel.has_work();
    if (is_copy_engine(engine.row.name.type))
        update_rates();
}

/// Takes all channels of the TSGs that hold a channel off their units.
void Host::take_off_groups_of(Runlist &runlist, std::size_t index) {
    const auto is_it = [&](const ListedChannel &listed) {
        return usable(runlist, listed) && index_of(runlist, listed) == index;
    };
    for (const Group &group : runlist.groups) {
        if (std::ranges::none_of(group.channels, is_it))
            continue;
        for (const ListedChannel &listed : group.channels)
            if (usable(runlist, listed))
                leave_unit(index_of(runlist, listed));
    }
}

/// Takes the channel off its PBDMA and its engine.
void Host::leave_unit(std::size_t index) {
    leave_engine(index);
    for (unsigned number = 0; number < pbdmas_.size(); ++number)
        remove_client(number, index);
}

} // namespace nvmodel
