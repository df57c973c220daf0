// SPDX-License-Identifier: MIT OR GPL-2.0
// A server does the GPU segments of all tasks. Requests wait for it as for a lock that is given by
// priority, and each has the server's overhead twice.
#include <algorithm>

#include "systems.hpp"

namespace stgm {

Waits Server::waits(std::size_t task) const {
    const Numbers &mine = model()[task];
    Waits waits = PriorityLock::waits(task);
    if (mine.uses_gpu())
        waits.kernels = add(waits.kernels, multiply(2 * mine.gpu_segments, overhead_));
    waits.demand = mine.cpu; // copies are the server's work
    return waits;
}

/// Adds the GPU segments of all other tasks on the server's core, where the server runs them at the
/// highest priority.
void Server::add_sources(std::size_t task, std::vector<Source> &sources) const {
    if (model()[task].core != options().server_core)
        return;
    for (std::size_t other = 0; other < model().size(); other++) {
        const Numbers &one = model()[other];
        if (other == task || !one.uses_gpu())
            continue;
        const Time demand =
            add(spins_ ? one.segments() : one.copies, multiply(2 * one.gpu_segments, overhead_));
        sources.push_back({demand, one.period, std::max(Time{0}, one.deadline - demand)});
    }
}

bool Server::counts(std::size_t task, std::size_t other, const Bound &bound) const {
    return (model()[other].uses_gpu() && model()[task].core == options().server_core) ||
           PriorityLock::counts(task, other, bound);
}

} // namespace stgm
