// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

namespace nvmodel {

/// The rules that the GPU keeps. A rule that is set to false is broken, so that tests can show that
/// they detect it. docs/model.md, "Programs", has the source of each rule.
struct Rules {
    bool disabled_stop = true;      // R1. Broken: disabled channels run like any other
    bool channels_limit = true;     // R2. Broken: each stream has a queue of its own
    bool unlisted_stop = true;      // R3. Broken: a TSG that has left a list keeps its turn
    bool one_task = true;           // R4. Broken: all tasks of a list execute at once
    bool timeslices = true;         // R4. Broken: a task keeps its engine until its work is done
    bool lists_independent = true;  // R5. Broken: runlists take turns, too
    bool graphics_turns = true;     // R6, R7. Broken: graphics do not wait for compute on GR0
    bool shared_pces = true;        // R8. Broken: each copy engine is as fast as if it were alone
    bool mps_one_task = true;       // Broken: each client of MPS has TSGs of its own
    bool mps_channels = true;       // Broken: a client has as many channels as any process
    bool mps_sm_numbers = true;     // Broken: clients of MPS read the SMs' true numbers
    bool mps_partitions = true;     // Broken: percentages are ignored
    bool preemption_modes = true;   // Broken: blocks are always stopped where they are (CILP)
    bool switch_costs = true;       // Broken: a switch takes the board's time, whatever is held
    bool copy_queues = true;        // Broken: copies queued in one TSG run at once
    bool default_timeslices = true; // Broken: all TSGs have the board's default
};

} // namespace nvmodel
