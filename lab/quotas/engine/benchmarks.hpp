// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Ten kernels with the characters of the paper's benchmarks (Parboil without bfs). All their
 * numbers are made up: no program was traced (docs/quotas.md).
 */
#ifndef NVDEBUG_LAB_QUOTAS_ENGINE_BENCHMARKS_HPP
#define NVDEBUG_LAB_QUOTAS_ENGINE_BENCHMARKS_HPP

#include <span>

#include "kernel.hpp"

namespace engine {

/** Returns all kernels, sorted by name. */
std::span<const Kernel> benchmarks();
/** Returns the kernel of a name, or null. */
const Kernel *benchmark(const std::string &name);

} // namespace engine

#endif
