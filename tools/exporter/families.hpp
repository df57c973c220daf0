// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Writes facts about GPUs as Prometheus' metrics. docs/exporter.md explains the names and
/// labels.
#pragma once

#include <string>
#include <vector>

#include "meter.hpp"

namespace nvdebug::exporter {

/// The facts about a GPU that become labels of all its series. Without them only nvdebug_gpu_info
/// has these labels.
struct GpuLabels {
    bool uuid = false, product = false;
};

/// Returns the metrics of the GPUs in Prometheus' text format.
/// @param version the exporter's version; empty: no metric shows it
[[nodiscard]] std::string metrics_text(const std::vector<Facts> &gpus,
                                       const std::string &version = "",
                                       const GpuLabels &labels = {});

} // namespace nvdebug::exporter
