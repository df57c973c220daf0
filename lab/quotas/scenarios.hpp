// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Scenarios of the engine and their outcomes as JSON, one in a line (docs/quotas.md). */
#ifndef NVDEBUG_LAB_QUOTAS_SCENARIOS_HPP
#define NVDEBUG_LAB_QUOTAS_SCENARIOS_HPP

#include <string>

#include "engine/run.hpp"
#include "lib/base/strict_json.hpp"

namespace quotas {

struct NamedScenario {
    nvdebug::base::Json id;
    engine::Scenario scenario;
};

/** Reads a scenario. Throws nvdebug::base::Wrong. */
NamedScenario parse_scenario(std::string_view line);

std::string text_of(const NamedScenario &scenario, const engine::Outcome &outcome);

} // namespace quotas

#endif
