// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief `copy_topology`: which physical copy engines (PCEs) work for which logical one (LCE).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nvdebug {

/// A logical copy engine, to which channels submit their copies.
struct LogicalCopyEngine {
    std::string name; ///< `LCE3`
    std::optional<std::uint32_t> runlist;
    std::uint32_t pces; ///< bit n: PCE n works for this LCE; 0: it has no PCEs of its own
    /// The name of the LCE that lends PCEs to this one, a GRCE on the graphics runlist.
    std::optional<std::string> shares;
};

/// The copy engines of a GPU and their wiring.
struct CopyTopology {
    std::uint32_t pce_map;               ///< bit n: PCE n exists
    std::vector<LogicalCopyEngine> lces; ///< in the order of `device_info`
};

} // namespace nvdebug
