// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file When tasks of a GPU had work, as far as their turns show it.
///
/// A record of switches has when each turn began and ended, and no launches. A turn that ends at
/// the end of a timeslice was interrupted, so that its task still had work. A turn that ends at
/// another time was given up, because the task had no work: a burst of work ends, and a pause
/// begins.
///
/// A pause ends when the task has work again, and that shows only in the turn of another task. If
/// the other task's turn outlasted its timeslice, it ended because this one came. Otherwise the
/// pause may have ended at any time during the turns that the task had to wait for anyway. Such a
/// pause is bounded by these turns. As the other pauses of the task were probably not longer than
/// its shortest bounds, half of the shortest twentieth is taken.
///
/// A task that is alone on the GPU stays there with work or without, and the record shows one turn,
/// which ends when another task comes. That time is taken for work. If the task was back after the
/// other task's timeslice, it counts as interrupted.
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

/// What was recorded of a GPU.
struct SeenGpu {
    std::size_t index;           ///< the number of the GPU
    Ns begin, end;               ///< of the record
    std::vector<SeenTurn> turns; ///< in the order of time
    struct Hole {
        Ns begin, end;
    };
    std::vector<Hole> holes = {};              ///< where turns were lost, in the order of time
    std::map<std::size_t, Ns> timeslices = {}; ///< by task, of those that are known

    /// Returns the time without the holes.
    Ns known() const;
};

struct Burst {
    Ns work;
    Ns pause;                ///< after it
    std::optional<Ns> bound; ///< the pause is known only to have been shorter; empty: it is known
};

/// A task on one GPU.
struct TaskBursts {
    Ns held = 0;    ///< time of all its turns
    Ns unasked = 0; ///< of that, when a timeslice was over and no other task had work
    Ns bound = 0;   ///< of pauses that have one, the shortest twentieth
    std::size_t turns = 0;
    Ns timeslice = 0;
    bool is_timeslice_known = false; ///< else it was found from the lengths of turns, or is usual
    std::vector<Burst> bursts;       ///< empty: it had work all the time
};

struct GpuBursts {
    /// Medians from the end of a turn to the next task's, and from the end of a timeslice to the
    /// end of the turn; empty: none was seen.
    std::optional<Ns> switching, late;
    std::map<std::size_t, TaskBursts> tasks;
};

/// @param timeslice of a task of which it is neither known nor to be found from its turns
GpuBursts bursts_of(const SeenGpu &gpu, Ns timeslice);

} // namespace simulation
