// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Programs of a scenario's jobs, and the numbers that stand in scenarios. All functions
/// throw nvdebug::base::Wrong, which names the field.
#pragma once

#include "lib/base/strict_json.hpp"
#include "scenario.hpp"

namespace simulation {

/// Reads a time from 0 on, which may have decimals. Returns whole nanoseconds.
/// @param unit the number is in
Ns read_time(const nvdebug::base::Place &place, Ns unit);

/// Reads a standard deviation, 0 to 1.
Part read_jitter(const nvdebug::base::Place &place);

/// A collective as all ranks have it.
struct Meeting {
    std::string name;
    std::int64_t rounds;
    bool operator==(const Meeting &) const = default;
};

/// The collectives of a program, in their order, with all that it repeats.
using Collected = std::vector<Meeting>;

/// Reads a program, flat.
/// @param ranks of its job; a job of one rank has no collectives
/// @param collected gets its collectives
Program read_program(const nvdebug::base::Place &place, std::size_t ranks, Collected &collected);

/// Fails if a rank's collectives differ from those of the other ranks.
void check_same(const nvdebug::base::Place &place, const Collected &collected,
                const Collected &expected);

} // namespace simulation
