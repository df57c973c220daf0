// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What nvqos prints of an epoch: a table for people, a line of JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "warden.hpp"

namespace nvqos {

/// One line. @param time UTC, ISO 8601 @param left_out lines so far that were not printed
std::string json_line(const Report &report, const qos::Settings &settings, const std::string &time,
                      std::uint64_t left_out);

/// One line of column names, and one for each tenant.
std::string table_of(const std::vector<Report> &reports);

/// The time now, as `2026-11-25T14:02:11Z`.
std::string utc_now();

} // namespace nvqos
