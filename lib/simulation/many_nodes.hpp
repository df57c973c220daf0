// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What windows by the clock are worth on many nodes, in a closed form: thousands of GPUs are
/// too many for discrete events.
///
/// It counts the time of a window in which all GPUs of all nodes run the job, which is the progress
/// of a job of collectives alone. Other jobs lose less, since a rank computes between its
/// collectives while others have not begun. The test many_nodes_test.cpp holds the form to the
/// discrete simulation on one to four nodes.
#pragma once

#include <span>

#include "scenario.hpp"

namespace simulation {

/// Windows of one length that follow each other on all GPUs of each node.
struct ManyNodes {
    std::size_t nodes = 1, gpus_of_node = 8;
    Ns window = 50 * qos::ms;
    Ns skew = 0; ///< by which the clocks of two nodes differ at most
    Gpus gpus = {};
    Ns other_slice = 100 * qos::us; ///< timeslice of the jobs that have no window
};

/// Returns how long all GPUs make progress with the job in one of its windows.
/// @param ahead by how much the clock of each node is ahead
Ns together_in_window(const ManyNodes &of, std::span<const Ns> ahead);

/// Returns the sum of the speeds of jobs that divide all GPUs among themselves and are never short
/// of work: together_in_window() as a part of the window, in the mean of @p draws clocks of all
/// nodes.
Part sum_of_speeds(const ManyNodes &of, std::uint64_t seed, int draws = 100);

} // namespace simulation
