// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Places the blocks of kernels when a run begins (Section 3.6 of the paper). */
#ifndef NVDEBUG_LAB_QUOTAS_ENGINE_PLACEMENT_HPP
#define NVDEBUG_LAB_QUOTAS_ENGINE_PLACEMENT_HPP

#include "kernel.hpp"
#include "lab/quotas/machine/machine.hpp"

namespace engine {

/**
 * Puts QoS kernels on all SMs, and each of m other kernels on S/m SMs. Each of the n kernels of an
 * SM gets at most 1/n of its threads, block by block. The next block is of the kernel with the
 * fewest threads among the kernels with a block that fits, or of the first such kernel.
 * @param qos by kernel
 * @returns blocks of each kernel on each SM
 */
qos::Table start_blocks(const GpuShape &shape, const std::vector<Kernel> &kernels,
                        const std::vector<bool> &qos);

/** Returns how many blocks fit on an empty SM. */
int most_blocks(const SmShape &shape, const Need &need);

} // namespace engine

#endif
