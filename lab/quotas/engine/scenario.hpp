// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file A run of the engine: which kernels share which GPU, under which scheme, for how long. */
#ifndef NVDEBUG_LAB_QUOTAS_ENGINE_SCENARIO_HPP
#define NVDEBUG_LAB_QUOTAS_ENGINE_SCENARIO_HPP

#include "adjustment.hpp"
#include "lab/quotas/machine/machine.hpp"

namespace engine {

/** The blocks by which a quota is shared. */
enum class Hosted {
    allotted, ///< the blocks that a kernel may have on an SM
    resident, ///< the blocks on the SM when the epoch begins
};

struct Participant {
    Kernel kernel;
    bool qos = false;
    qos::Rational goal = 0; ///< of a QoS kernel
};

struct Scenario {
    enum class Manager {
        none,   ///< every block that fits, no counters
        quotas, ///< scheme
        spart,  ///< whole SMs
    };

    GpuShape gpu;
    std::vector<Participant> kernels; ///< 1 to 16
    Manager manager = Manager::quotas;
    qos::Scheme scheme = qos::Scheme::rollover;
    qos::Readings readings;
    AdjustmentReadings adjustment;
    Hosted hosted = Hosted::allotted;
    int spart_least = 0;       ///< SMs that a kernel without a goal keeps
    std::int64_t epoch = 2000; ///< cycles, 100 or more
    std::int64_t epochs = 50;
    std::uint64_t seed = 1;
};

} // namespace engine

#endif
