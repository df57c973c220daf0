// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The probe, which finds the effect of masks on a GPU before they are used. A kernel records
/// the SMs on which it runs, first with each bit of the mask alone, and then with masks of several
/// TPCs as partitions have them.
#pragma once

#include <string>

#include "lib/partition/gpu_map.hpp"

namespace nvtaskset {

/// Probes a GPU, which takes a CUDA context and about 50 ms. It changes environment variables of
/// CUDA, so it is called in a child process.
/// @param library the path of the injected library
[[nodiscard]] Outcome<GpuMap> probe(const Uuid &uuid, const std::string &pci_address,
                                    const std::string &driver, const std::string &library);

} // namespace nvtaskset
