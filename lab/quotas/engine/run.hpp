// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Runs a scenario. */
#ifndef NVDEBUG_LAB_QUOTAS_ENGINE_RUN_HPP
#define NVDEBUG_LAB_QUOTAS_ENGINE_RUN_HPP

#include <functional>

#include "gpu.hpp"
#include "scenario.hpp"

namespace engine {

struct Outcome {
    std::int64_t cycles = 0;
    std::vector<std::int64_t> instructions; ///< thread instructions by kernel
    std::vector<std::int64_t> launches;     ///< by kernel
    std::int64_t swaps = 0;                 ///< blocks that had to leave their SM
    std::int64_t memory_busy = 0;           ///< cycles
    std::vector<qos::Epoch> epochs;         ///< of the counters, if there are any
};

/** Called after each cycle that was not skipped. */
using Watch = std::function<void(const Gpu &, const qos::Machine *)>;

/** Runs a scenario. The same scenario always has the same outcome. @param watch may be empty */
Outcome run(const Scenario &scenario, const Watch &watch = {});

} // namespace engine

#endif
