// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Readings of the paper (docs/quotas.md) in JSON. */
#ifndef NVDEBUG_LAB_QUOTAS_READINGS_HPP
#define NVDEBUG_LAB_QUOTAS_READINGS_HPP

#include <optional>
#include <string>

#include "lab/quotas/machine/readings.hpp"
#include "lib/base/strict_json.hpp"

namespace quotas {

inline constexpr char scheme_names[] = "naive, history, elastic, rollover, rollover_time";
std::optional<qos::Scheme> scheme_of(std::string_view name);

/**
 * Throws nvdebug::base::Wrong for what is no object with values of the right types.
 * @returns a sentence on the first reading or value that is not known; empty: all are
 */
std::string read_readings(const nvdebug::base::Place &place, qos::Readings &into);

} // namespace quotas

#endif
