// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The output of `nvqos advise`.
#pragma once

#include <string>
#include <vector>

#include "lib/simulation/watched.hpp"
#include "proposals.hpp"

namespace nvqos {

struct Advice {
    std::string source; ///< `a recording, run.ndjson` or `the switches of GPUs`
    simulation::Sighting sighting;
    simulation::Model model;
    std::vector<Proposal> proposals; ///< the first is without goals
};

/// Returns the advice as tables and sentences.
std::string text_of(const Advice &advice);
/// Returns the advice as one line of JSON, by the schema nvqos.advice.json.
std::string json_of(const Advice &advice);

/// Returns the command line that asks nvqos for the goals of a proposal. It is empty if the
/// proposal has no goals, or if no WHO names one of the tasks with a goal.
std::string command_of(const Advice &advice, const Proposal &proposal);

} // namespace nvqos
