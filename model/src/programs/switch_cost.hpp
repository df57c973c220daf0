// SPDX-License-Identifier: MIT OR GPL-2.0
// What a change of context costs. Fitted to what was measured on an H100 (lab/context-switch,
// lab/timeslices); that saving and loading take half of it each is made up.
#pragma once

#include "base/time.hpp"

#include <cstdint>

namespace nvmodel {

/// What blocks hold that a save stores.
struct Held {
    std::uint64_t bytes = 0;     // registers and shared memory, on all SMs
    unsigned threads = 0;        // on the SM that has most
    double shared_of_thread = 0; // bytes, on the SM where it is most
};

/// Of a graphics engine.
[[nodiscard]] Ns save_or_load_time(const Held &held);

/// Of a copy engine: two tasks' slices of 1,048.6 us came every 2,107 us.
inline constexpr Ns copy_switch_ns = 5000;

} // namespace nvmodel
