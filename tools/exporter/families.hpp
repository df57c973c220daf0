// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Facts of GPUs as Prometheus has them. Names and labels are in docs/exporter.md.
#pragma once

#include <string>
#include <vector>

#include "meter.hpp"

namespace nvdebug::exporter {

/// Which facts of a GPU are labels of all its series, and not of nvdebug_gpu_info alone.
struct GpuLabels {
    bool uuid = false, product = false;
};

/// Returns the metrics of the GPUs in Prometheus' text format.
/// @param version the exporter's; empty: no metric has it
[[nodiscard]] std::string metrics_text(const std::vector<Facts> &gpus,
                                       const std::string &version = "",
                                       const GpuLabels &labels = {});

} // namespace nvdebug::exporter
