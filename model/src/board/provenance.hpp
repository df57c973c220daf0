// SPDX-License-Identifier: MIT OR GPL-2.0
// Checks the sources of a board's facts. Every section of a board file carries "facts": a list of
//   {"of": [KEY, …], "basis": BASIS, "source": TEXT}
// that together cover each of the section's keys exactly once (["*"] covers all).
#pragma once

#include "base/json_reader.hpp"

#include <string>
#include <vector>

namespace nvmodel {

/// Checks a section's "facts" against the keys of its data. Throws ConfigError.
void check_facts(JsonObject &section, const std::vector<std::string> &data_keys);

} // namespace nvmodel
