// SPDX-License-Identifier: MIT OR GPL-2.0
// The cost of a change of context. It is fitted to measurements on an H100 (lab/context-switch,
// lab/timeslices). It is made up that saving and loading take half of it each.
#pragma once

#include "base/time.hpp"

#include <cstdint>

namespace nvmodel {

/// The resources that blocks hold and a save stores.
struct Held {
    std::uint64_t bytes = 0;     // registers and shared memory, on all SMs
    unsigned threads = 0;        // on the SM that has most of them
    double shared_of_thread = 0; // bytes on the SM with most of them
};

/// The time of a save or a load on a graphics engine.
[[nodiscard]] Ns save_or_load_time(const Held &held);

/// The time of a switch on a copy engine: two tasks' slices of 1,048.6 us came every 2,107 us.
inline constexpr Ns copy_switch_ns = 5000;

} // namespace nvmodel
