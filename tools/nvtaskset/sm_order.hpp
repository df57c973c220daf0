// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The GPC of each SM, from NVIDIA's driver, which answers any user.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nvdebug/error.hpp"

namespace nvtaskset {

struct SmPlace {
    std::uint32_t gpc;           ///< the GPC's logical number
    std::uint32_t cluster_group; ///< the GPC's virtual number
    std::uint32_t tpc;           ///< the TPC's number on the GPU
};

/// Returns the places of SMs by %smid.
/// @param pci_address such as `0000:01:00.0`
[[nodiscard]] nvdebug::Result<std::vector<SmPlace>> sm_order(const std::string &pci_address);

} // namespace nvtaskset
