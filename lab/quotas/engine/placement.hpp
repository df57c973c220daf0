// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Where blocks are when a run begins (Section 3.6 of the paper). */
#ifndef NVDEBUG_LAB_QUOTAS_ENGINE_PLACEMENT_HPP
#define NVDEBUG_LAB_QUOTAS_ENGINE_PLACEMENT_HPP

#include "kernel.hpp"
#include "lab/quotas/machine/machine.hpp"

namespace engine {

/**
 * QoS kernels are on all SMs, each of m others on a part of S/m. The n kernels of an SM get at most
 * 1/n of its threads each, block by block: of the kernels with a block that fits, the next one goes
 * to the one with the fewest threads, or the first of these.
 * @param qos by kernel
 * @returns blocks of each kernel on each SM
 */
qos::Table start_blocks(const GpuShape &shape, const std::vector<Kernel> &kernels,
                        const std::vector<bool> &qos);

/** As many as fit, if no other kernel is there. */
int most_blocks(const SmShape &shape, const Need &need);

} // namespace engine

#endif
