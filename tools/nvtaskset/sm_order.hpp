// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file In which GPC each SM is, from NVIDIA's driver, which answers any user.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nvdebug/error.hpp"

namespace nvtaskset {

struct SmPlace {
    std::uint32_t gpc;           ///< logical
    std::uint32_t cluster_group; ///< the GPC's virtual number
    std::uint32_t tpc;           ///< of the GPU
};

/// By %smid. @p pci_address: `0000:01:00.0`
[[nodiscard]] nvdebug::Result<std::vector<SmPlace>> sm_order(const std::string &pci_address);

} // namespace nvtaskset
