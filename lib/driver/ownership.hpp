// SPDX-License-Identifier: MIT OR GPL-2.0
// Which process made which channel: asked of NVIDIA's driver through the processes' own
// descriptors, and remembered from look to look.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "foreign_client.hpp"
#include "known_clients.hpp"
#include "nvdebug/error.hpp"
#include "processes.hpp"
#include "rm.hpp"

namespace nvdebug::driver {

/// While this lives it holds descriptors of processes with channels: the driver keeps what belongs
/// to one that ends until then.
struct Owned {
    Count count;
    std::vector<std::uint32_t> hidden;   ///< pids of Count::hidden
    std::vector<std::uint32_t> cut;      ///< pids of processes that have more than is asked about
    int trouble = 0;                     ///< errno of what this process lacked; 0: nothing
    std::vector<Process> processes;      ///< the oldest first
    std::vector<ClientChannel> channels; ///< by process
};

/// Of one driver, for all its GPUs. The RM's clients that live are looked for by their names, of
/// which there are a million: from look to look only new ones are asked about, and a client's owner
/// is remembered by process, start and descriptor. One client of our own is kept, so that looks use
/// up no names. Several threads may look; one waits for the other.
class Ownership {
  public:
    /// @param client that is kept
    Ownership(std::shared_ptr<Kernel> kernel, std::shared_ptr<Client> client)
        : kernel_(std::move(kernel)), client_(std::move(client)) {}

    /// Looks at the processes that have the GPU's file open, takes their descriptors of
    /// /dev/nvidiactl one at a time, and asks the RM through them which channels they made. Only
    /// questions. What ends or is refused meanwhile is counted; what one process and what one
    /// user's may cost is bounded, and Owned::cut names those that have more. Clients whose owner
    /// is not known are asked about through all descriptors, also those of processes without the
    /// GPU; that has a bound for the look, and goes on in the next one.
    /// @param everything all names are searched anew (3.7 s); else the oldest only where a process
    /// has no client, at once in the first look and in parts later.
    [[nodiscard]] Result<Owned> find(const Card &card, bool everything = false);

  private:
    class Look;

    const std::shared_ptr<Kernel> kernel_;
    std::mutex lock_;
    std::shared_ptr<Client> client_;
    bool broken_ = false;      ///< it answers no more: the next look has another one
    std::uint64_t pass_ = 0;   ///< of searches and of what follows; rises
    bool searched_ = false;    ///< there was a look
    std::uint32_t newest_ = 0; ///< until this name all were asked about
    /// Names that are left to ask about of those before the first look: the next one is so many
    /// before first_.
    std::uint32_t first_ = 0, older_ = 0;
    std::uint64_t counted_ = 0;       ///< in which pass a client was made to see how far names are
    std::uint32_t unknown_looks_ = 0; ///< in a row, in which a process had no client
    std::uint32_t looks_to_turn_ = few_looks; ///< after so many of them all names are asked about
    static constexpr std::uint32_t few_looks = 3;
    std::set<Descriptor> seen_; ///< in the last look
    KnownClients clients_;
};

} // namespace nvdebug::driver
