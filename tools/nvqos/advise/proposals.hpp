// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Goals that are tried in the simulation, and what each task would get with them.
#pragma once

#include <string>
#include <vector>

#include "lib/qos/waits.hpp"
#include "lib/simulation/result.hpp"
#include "lib/simulation/seen.hpp"

namespace nvqos {

struct Proposal {
    std::string name;              ///< for people
    simulation::Scenario scenario; ///< with its goals
    simulation::Result result;
    std::vector<qos::Waits> waits; ///< by job: for its turns, after the warm-up
};

/// Runs the model as it is, and with goals that nvqos would not refuse: a share for each, shares by
/// what each would use alone, and for up to four tasks each a proposal that favours it.
std::vector<Proposal> proposals_for(const simulation::Model &model);

} // namespace nvqos
