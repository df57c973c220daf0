// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A scenario of tasks that were seen on real GPUs (`nvqos advise`).
///
/// A task becomes a job whose program has the bursts and pauses that were seen, up to 32 of each
/// rank, evenly chosen in time and scaled so that the means are those of all. Then the scenario is
/// run without goals, and the pauses are made longer or shorter until each task has the part of its
/// GPU that it had in the record, as far as that can be reached: what the record shows of pauses is
/// less sure than what it shows of parts.
#pragma once

#include <string>
#include <vector>

#include "bursts.hpp"
#include "scenario.hpp"

namespace simulation {

/// What was seen of all GPUs.
struct Seen {
    std::vector<std::string> tasks; ///< their names, each another one; SeenTurn::task is the place
    std::vector<SeenGpu> gpus;      ///< each with turns of two tasks or more
};

/// A task on one GPU, as it was seen and as it is simulated.
struct Estimate {
    std::size_t task = 0, gpu = 0;
    Part seen = 0;      ///< what it held of the time that is known
    Part unasked = 0;   ///< of the time, that of TaskBursts::unasked
    Part simulated = 0; ///< JobResult::OnGpu::got without goals
    Ns work = 0;        ///< the mean of its bursts
    Ns pause = 0;       ///< the mean that is simulated; 0: it had work all the time
    std::size_t bursts = 0;
    std::size_t bounded = 0; ///< of their pauses, those with Burst::bound
    Ns bound = 0;            ///< TaskBursts::bound
    Ns timeslice = 0;
    bool is_timeslice_known = false;
};

struct Model {
    Scenario scenario; ///< a job for each task, in their order, without goals and control
    std::vector<Estimate> estimates;
    /// Whether Gpus::switching and Gpus::late are those of the turns.
    bool has_seen_switching = false, has_seen_late = false;

    /// Returns the greatest difference between what was seen and what is simulated.
    Part worst() const;
};

/// Makes the scenario. GPUs have the numbers that they had.
/// @param usual has what is not found in the record: the costs of a request and of a resumed turn,
/// and the timeslice
Model model_of(const Seen &seen, const std::string &name, const Gpus &usual);

/// Returns the scenario as the text of a file that read_scenario() reads. Its jobs have kernels and
/// thinks alone.
std::string text_of(const Scenario &scenario);

} // namespace simulation
