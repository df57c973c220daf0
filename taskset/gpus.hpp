// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file GPUs of NVIDIA's driver. */
#ifndef NVTASKSET_GPUS_HPP
#define NVTASKSET_GPUS_HPP

#include <string>
#include <vector>

#include "gpu_map.hpp"

namespace nvtaskset {

struct Gpu {
    Uuid uuid{};
    std::string pci_address; ///< 0000:01:00.0
    std::string name;        ///< NVIDIA H100 80GB HBM3
};

/** By PCI address, as nvidia-smi counts them. */
Outcome<std::vector<Gpu>> gpus();
/** `580.159.04@BOOT`: what a GPU's TPCs are may differ with each. */
Outcome<std::string> driver_version();

/** Which of @p all: `0`, `GPU-…` (its begin is enough), `01:00.0`, or `all`. */
Outcome<std::vector<Gpu>> select(const std::vector<Gpu> &all, const std::string &words);

} // namespace nvtaskset

#endif
