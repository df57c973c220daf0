// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What nvqos prints of an epoch: a table for people, a line of JSON for programs.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lib/cli/fitted_table.hpp"
#include "tools/nvqos/keep/gpu_report.hpp"
#include "tools/nvqos/keep/node_clock.hpp"

namespace nvqos {

using Json = nlohmann::ordered_json;
using nvdebug::cli::Column;
using nvdebug::cli::fitted;
using nvdebug::cli::Row;
using nvdebug::cli::Table;

/// Returns the value of `data` in a line. The arguments are those of json_line().
Json epoch_json(const Report &report, const qos::Settings &settings, const std::string &time,
                std::uint64_t left_out);

/// Returns one line of JSON.
/// @param time UTC, ISO 8601
/// @param left_out the number of lines that were not printed so far
std::string json_line(const Report &report, const qos::Settings &settings, const std::string &time,
                      std::uint64_t left_out);

/// Notes which tenants without a process on the report's GPU use other GPUs.
/// @param reports the last ones, by GPU
void note_other_gpus(Report &report, const std::map<std::uint32_t, Report> &reports);

/// Returns whether a tenant has tasks on other nodes, which need this node's clock.
bool need_clock(const std::map<std::uint32_t, Report> &reports);

/// Returns a sentence for each gang, on whether it has windows and why, and one for each GPU on which
/// promises do not fit any more: since when, what does not fit, and what helps. There is one on the
/// clock, too, if need_clock().
std::vector<std::string> notes_on(const std::map<std::uint32_t, Report> &reports,
                                  const nvdebug::base::ClockVerdict &clock);

/// Returns a sentence for each tenant that needs several GPUs at once, beside others, by the tasks
/// that there are, and one on the clock if there are tenants with tasks on other nodes.
std::vector<std::string> gangs_among(const std::map<std::uint32_t, Report> &reports,
                                     const nvdebug::base::ClockVerdict &clock);

/// Returns a table of tenants in lines of @p width columns, as fitted() does.
/// @param epochs of each GPU, as epoch_json() returns them
Table table_for(const std::vector<Json> &epochs, std::optional<std::size_t> width);
/// Returns the lines of the whole table.
std::string table_of(const std::vector<Report> &reports);

} // namespace nvqos
