// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What each GPU can still promise, for programs that divide GPUs among jobs before they ask
/// for goals.
#pragma once

#include "tools/nvqos/keep/gpu_thread.hpp"
#include "tools/nvqos/report.hpp"

namespace nvqos {

/// Returns the largest share that one more tenant with one task can be promised beside @p entrants,
/// in steps of 0.001 %; 0: none, or the goals do not fit already.
/// @param entrants as a GPU has them, the tasks of no tenant last
[[nodiscard]] qos::Part most_promised(std::vector<qos::Entrant> entrants,
                                      const qos::Settings &settings);

/// Returns a GPU of the answer to `gpus` (schema nvqos.gpus.json). Asks the GPU's thread.
[[nodiscard]] Json gpu_json(const GpuThread &gpu, const Goals &goals);

} // namespace nvqos
