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
    std::string name;              ///< its heading
    simulation::Scenario scenario; ///< has the goals
    simulation::Result result;
    std::vector<qos::Waits> waits; ///< by job: how long it waited for turns after the warm-up
};

/// Runs the model without goals, and then with goals that nvqos would accept: an equal share for
/// each task, a share for each by the part that it would use alone, up to four proposals that serve
/// one task first, and up to four that give one task the most.
std::vector<Proposal> proposals_for(const simulation::Model &model);

} // namespace nvqos
