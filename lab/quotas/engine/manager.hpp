// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file A manager decides at the begin of an epoch which kernel gets which part of the GPU. */
#ifndef NVDEBUG_LAB_QUOTAS_ENGINE_MANAGER_HPP
#define NVDEBUG_LAB_QUOTAS_ENGINE_MANAGER_HPP

#include <memory>

#include "gpu.hpp"
#include "samples.hpp"
#include "scenario.hpp"

namespace engine {

/** The speed of a kernel when an epoch begins. */
struct Speed {
    std::int64_t instructions = 0, before = 0; ///< all so far, and up to the last epoch
    qos::Rational since_launch = 0, last = 0;  ///< thread instructions per cycle
};

/** Returns the speeds of all kernels. @param begin of the epoch that ends in the present cycle */
std::vector<Speed> speeds(const Gpu &gpu, const std::vector<Speed> &before, std::int64_t begin);

class Manager {
  public:
    virtual ~Manager() = default;

    /** Returns the machine with the counters, or null if there are none. */
    virtual qos::Machine *machine() { return nullptr; }
    virtual void begin_epoch(Gpu &gpu) = 0;
    /** Takes samples of the GPU; called after each cycle. */
    virtual void sample(const Gpu &) {}
    /** Returns how many blocks were taken from kernels so far. */
    virtual std::int64_t swaps() const { return 0; }
    /** Returns the epochs that have ended, if there are counters. */
    virtual std::vector<qos::Epoch> epochs() { return {}; }

    static std::unique_ptr<Manager> of(const Scenario &scenario);
};

} // namespace engine

#endif
