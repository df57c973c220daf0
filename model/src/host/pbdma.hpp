// SPDX-License-Identifier: MIT OR GPL-2.0
// A PBDMA, which takes turns among the channels that may use it now, one at a time.
#pragma once

#include "base/time.hpp"
#include "host/context.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace nvmodel {

/// Time that a PBDMA stays with one channel while others wait: the default of the per-PBDMA
/// timeslice of Kepler..Volta (16 units). Only status shows these turns: work that a channel has
/// handed to its engine runs on.
inline constexpr Ns pbdma_turn_ns = 16 * 1024;

struct PbdmaClient {
    unsigned runlist = 0;
    GroupId group;
    std::size_t channel = 0; // index into Host's channels
    bool seen = false;       // it was loaded since it became a client
    bool leaving = false;    // it was disabled, and goes when its turn ends
};

struct Pbdma {
    std::vector<unsigned> runlists; // the runlists that it serves
    std::vector<PbdmaClient> clients;
    std::size_t turn = 0; // index of the loaded client, if there is any
    Ns turn_began = 0;

    /// A change that the switch of a runlist has under way on the PBDMA.
    struct Change {
        unsigned runlist;
        ContextStatus status;
    };
    std::optional<Change> change;

    /// The channel that it held last. Unloading keeps it, as the register does.
    std::optional<std::size_t> last_channel;

    [[nodiscard]] const PbdmaClient *loaded() const {
        return clients.empty() ? nullptr : &clients[turn];
    }

    [[nodiscard]] ContextStatus status() const {
        if (const PbdmaClient *client = loaded())
            return {ContextState::valid, client->group, {}};
        return change ? change->status : ContextStatus{};
    }

    /// Returns whether the next change of turn does more than show another loaded channel.
    [[nodiscard]] bool turns_matter() const {
        if (clients.size() < 2)
            return false;
        for (const PbdmaClient &client : clients)
            if (!client.seen || client.leaving)
                return true;
        return false;
    }
};

} // namespace nvmodel
