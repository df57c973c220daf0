// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Finds out from the turns of a GPU when its tasks had work.
///
/// A record of switches has when each turn began and ended, and no launches. A turn that ends at
/// the end of a timeslice was interrupted, and its task still had work. A turn that ends at another
/// time was given up, because the task had no work: a burst of work ends, and a pause begins.
///
/// A pause ends when the task has work again, and only the turn of another task shows that moment.
/// If the other task's turn outlasted its timeslice, it ended because this task came. Otherwise the
/// pause may have ended at any time during the turns that the task had to wait for anyway. Such a
/// pause has a bound: the length of these turns. All such pauses of the task were probably no
/// longer than its shortest bounds, so half of the 5th percentile of the bounds is taken.
///
/// A task that is alone on the GPU stays there with work or without, and the record shows one turn,
/// which ends when another task comes. That time counts as work. If the task has its next turn
/// right after the other task's timeslice, its first turn counts as interrupted.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "lib/qos/goal.hpp"

namespace simulation {

using qos::Ns;

/// A turn of a real GPU.
struct SeenTurn {
    std::size_t task;
    Ns begin, end;
    bool whole; ///< its begin and its end were seen
};

/// The record of one GPU.
struct SeenGpu {
    std::size_t index;           ///< the number of the GPU
    Ns begin, end;               ///< of the record
    std::vector<SeenTurn> turns; ///< in the order of time
    struct Hole {
        Ns begin, end;
    };
    std::vector<Hole> holes = {};              ///< where turns were lost, in the order of time
    std::map<std::size_t, Ns> timeslices = {}; ///< by task, unless unknown

    /// Returns the length of the record without its holes.
    Ns known() const;
};

struct Burst {
    Ns work;
    Ns pause;                ///< after the work
    std::optional<Ns> bound; ///< the pause was shorter than that; empty: `pause` is exact
    /// When the task had the work, which is when the pause before it ended.
    Ns begin = 0;
    bool follows = false; ///< the burst before it in the list was the task's last one before it
};

/// A task on one GPU.
struct TaskBursts {
    Ns held = 0;    ///< time of all its turns
    Ns unasked = 0; ///< the part of `held` after a timeslice while no other task had work
    Ns bound = 0;   ///< the 5th percentile of its Burst::bound; 0: there is none
    std::size_t turns = 0;
    Ns timeslice = 0;
    bool is_timeslice_known = false; ///< false: it is from the lengths of turns, or usual
    std::vector<Burst> bursts;       ///< empty: it had work all the time
};

struct GpuBursts {
    /// The median time from a turn's end to the begin of another task's turn, and from the end of
    /// a timeslice to the end of its turn; empty: the record has none.
    std::optional<Ns> switching, late;
    std::map<std::size_t, TaskBursts> tasks;
};

/// Finds the bursts of all tasks on a GPU.
/// @param timeslice for a task whose timeslice is not known and does not show in its turns
GpuBursts bursts_of(const SeenGpu &gpu, Ns timeslice);

} // namespace simulation
