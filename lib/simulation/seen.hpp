// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A scenario of tasks that were seen on real GPUs (`nvqos advise`).
///
/// A task becomes a job, whose program has bursts and pauses of the record: up to 32 for each rank,
/// evenly chosen in time, and scaled to the means of all. Then the scenario is run without goals,
/// and the pauses are made longer or shorter until each task has the same part of its GPU as in the
/// record, or no pauses bring it nearer. The reason is that a record shows parts exactly, and many
/// pauses only by a bound.
#pragma once

#include <string>
#include <vector>

#include "bursts.hpp"
#include "scenario.hpp"

namespace simulation {

/// The records of all GPUs.
struct Seen {
    std::vector<std::string> tasks; ///< their names, all different; SeenTurn::task is a place here
    std::vector<SeenGpu> gpus;      ///< each with turns of two tasks or more
};

/// A task on one GPU, as it was seen and as it is simulated.
struct Estimate {
    std::size_t task = 0, gpu = 0;
    Part seen = 0;      ///< the part of the known time in which it had the GPU
    Part unasked = 0;   ///< TaskBursts::unasked as a part of the known time
    Part simulated = 0; ///< JobResult::OnGpu::got without goals
    Ns work = 0;        ///< the mean of its bursts
    Ns pause = 0;       ///< the mean that is simulated; 0: it had work all the time
    std::size_t bursts = 0;
    std::size_t bounded = 0; ///< the number of pauses with Burst::bound
    Ns bound = 0;            ///< TaskBursts::bound
    Ns timeslice = 0;
    bool is_timeslice_known = false;
};

struct Model {
    /// A job for each task, in their order, without goals and control. None is a gang, because ranks
    /// do not wait for each other.
    Scenario scenario;
    std::vector<Estimate> estimates;
    /// Whether Gpus::switching and Gpus::late were found from the turns.
    bool has_seen_switching = false, has_seen_late = false;

    /// Returns the greatest difference between a task's part in the record and its simulated part.
    Part worst() const;
};

/// Makes the scenario. GPUs keep their numbers.
/// @param usual the costs of a request and of a resumed turn, which no record shows, and values for
/// times that this record does not show
Model model_of(const Seen &seen, const std::string &name, const Gpus &usual);

/// Returns the scenario as the text of a file that read_scenario() reads. Its jobs have kernels and
/// thinks alone.
std::string text_of(const Scenario &scenario);

} // namespace simulation
