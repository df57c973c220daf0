// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Finding out what masks do on a GPU, before any is used: a kernel writes down which SMs run
/// it, first with each bit of the mask alone, then with masks as partitions have them.
#pragma once

#include <string>

#include "lib/partition/gpu_map.hpp"

namespace nvtaskset {

/// Asks the GPU itself, which takes a CUDA context and some 50 ms. For a process of its own: what
/// CUDA finds in the environment is changed. @p library: the injected library.
[[nodiscard]] Outcome<GpuMap> probe(const Uuid &uuid, const std::string &pci_address,
                                    const std::string &driver, const std::string &library);

} // namespace nvtaskset
