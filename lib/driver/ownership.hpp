// SPDX-License-Identifier: MIT OR GPL-2.0
// Finds out which process made which channel, by queries to NVIDIA's driver through the processes'
// own descriptors. The answers are remembered from look to look.
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

/// The channels on a GPU and the processes that made them. It holds descriptors of these processes,
/// so the driver keeps the objects of a process that ends until this object is destroyed.
struct Owned {
    Count count;
    std::vector<std::uint32_t> hidden;   ///< pids of Count::hidden
    std::vector<std::uint32_t> cut;      ///< pids of processes that have more objects than the
                                         ///< bound of a look
    int trouble = 0;                     ///< errno of what this process lacked; 0: it lacked
                                         ///< nothing
    std::vector<Process> processes;      ///< from the oldest to the youngest
    std::vector<ClientChannel> channels; ///< by process
};

/// Looks for owners of channels, for all GPUs of one driver. The RM's living clients are found by
/// trying their names, of which there are a million. Each look tries only new names, and remembers
/// a client's owner by process, start and descriptor. One client of this program is kept, so that
/// looks do not use up names. Several threads may look; a thread waits until the other has
/// finished.
class Ownership {
  public:
    /// @param client the client of this program that is kept
    Ownership(std::shared_ptr<Kernel> kernel, std::shared_ptr<Client> client)
        : kernel_(std::move(kernel)), client_(std::move(client)) {}

    /// Looks at the processes that have the GPU's file open, duplicates their descriptors of
    /// /dev/nvidiactl one at a time, and asks the RM through them which channels they made. The
    /// requests only read. Processes that end or refuse during the look are counted. The cost of a
    /// process and that of a user are bounded, and Owned::cut names the processes that exceed the
    /// bound. Clients with an unknown owner are asked about through all descriptors, also those of
    /// processes without the GPU. This search has a bound in each look, and goes on in the next
    /// look.
    /// @param everything search all names again (3.7 s). Otherwise the oldest names are searched
    /// only if a process has no client: at once in the first look, and in parts later.
    [[nodiscard]] Result<Owned> find(const Card &card, bool everything = false);

  private:
    class Look;

    const std::shared_ptr<Kernel> kernel_;
    std::mutex lock_;
    std::shared_ptr<Client> client_;
    bool broken_ = false;      ///< the client does not answer any more; the next look opens another
                               ///< one
    std::uint64_t pass_ = 0;   ///< the number of the last search
    bool searched_ = false;    ///< the first look was made
    std::uint32_t newest_ = 0; ///< all names up to this one were tried
    /// A search of all names goes back from first_ around the ring of names, in parts. older_ names
    /// are left to try, and the next one is older_ steps after first_.
    std::uint32_t first_ = 0, older_ = 0;
    std::uint64_t counted_ = 0;       ///< the pass in which the RM's counter was last read, by
                                      ///< making a client
    std::uint32_t unknown_looks_ = 0; ///< looks in a row in which a process had no client
    std::uint32_t looks_to_turn_ = few_looks; ///< after this many of these looks, all names are
                                              ///< tried
    static constexpr std::uint32_t few_looks = 3;
    std::set<Descriptor> seen_; ///< the descriptors of the last look
    KnownClients clients_;
};

} // namespace nvdebug::driver
