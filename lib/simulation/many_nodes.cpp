// SPDX-License-Identifier: MIT OR GPL-2.0
#include "many_nodes.hpp"

#include <algorithm>

#include "clock_windows.hpp"

namespace simulation {

Ns together_in_window(const ManyNodes &of, std::span<const Ns> ahead) {
    const auto [first, last] = std::ranges::minmax(ahead);
    // The GPUs of a node are changed one after the other, in the same order in each window.
    const Ns changes = static_cast<Ns>(of.gpus_of_node - 1) * of.gpus.request;
    // The former holder leaves at the end of its short timeslice, and makes progress until then.
    const Ns change = of.gpus.late + of.gpus.switching + of.gpus.resume;
    return std::max<Ns>(0, of.window - changes - change - (last - first));
}

Part sum_of_speeds(const ManyNodes &of, std::uint64_t seed, int draws) {
    Gpus gpus = of.gpus;
    gpus.nodes = of.nodes;
    gpus.skew = of.skew;
    Part sum = 0;
    for (int draw = 0; draw < draws; draw++)
        sum += qos::scaled(
            together_in_window(of, clocks_ahead(gpus, seed + static_cast<std::uint64_t>(draw))),
            qos::whole, of.window);
    return sum / draws;
}

} // namespace simulation
