// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file What decides at the begin of an epoch which kernel gets what. */
#ifndef NVDEBUG_LAB_QUOTAS_ENGINE_MANAGER_HPP
#define NVDEBUG_LAB_QUOTAS_ENGINE_MANAGER_HPP

#include <memory>

#include "gpu.hpp"
#include "samples.hpp"
#include "scenario.hpp"

namespace engine {

/** Of one kernel, when an epoch begins. */
struct Speed {
    std::int64_t instructions = 0, before = 0; ///< all so far, and those up to the last epoch
    qos::Rational since_launch = 0, last = 0;  ///< thread instructions per cycle
};

/** @param begin of the epoch that has ended; the GPU's present cycle is its end */
std::vector<Speed> speeds(const Gpu &gpu, const std::vector<Speed> &before, std::int64_t begin);

class Manager {
  public:
    virtual ~Manager() = default;

    /** null: there are no counters. */
    virtual qos::Machine *machine() { return nullptr; }
    virtual void begin_epoch(Gpu &gpu) = 0;
    /** After a cycle. */
    virtual void sample(const Gpu &) {}
    /** Blocks that were taken from a kernel so far. */
    virtual std::int64_t swaps() const { return 0; }
    /** Epochs that have ended, where there are counters. */
    virtual std::vector<qos::Epoch> epochs() { return {}; }

    static std::unique_ptr<Manager> of(const Scenario &scenario);
};

} // namespace engine

#endif
