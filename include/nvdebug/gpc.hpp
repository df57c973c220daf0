// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief GPCs, TPCs and SMs, and the compute work distributor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nvdebug/error.hpp"

namespace nvdebug {

/// A GPC of the chip's design.
struct Gpc {
    std::uint32_t gpc; ///< physical number
    bool off;          ///< fused off or floor-swept
    /// Bit n: TPC n of the chip's design is off; empty: unreadable.
    std::optional<std::uint32_t> tpc_off_mask;
};

/// An SM and its place.
struct Sm {
    std::uint32_t sm, gpc, tpc; ///< tpc is the number within the logical GPC
};

/// The design of the chip, and the parts that are off. A number is empty if this chip has no
/// register for it.
struct GpcTopology {
    std::optional<std::uint32_t> num_gpcs, num_tpc_per_gpc, num_ces, num_fbps, num_ltcs;
    std::optional<std::uint32_t> gpc_off_mask;
    std::vector<Gpc> gpcs; ///< num_gpcs entries by physical number; empty without gpc_off_mask
    std::optional<std::vector<Sm>> sms;  ///< by rising SM id; empty: no public register has them
    std::optional<std::string> sms_note; ///< why sms is empty
    std::vector<Error> unread; ///< errors of files that exist but cannot be read (now, or by this
                               ///< user)
};

/// The contents of `work_distributor`.
struct WorkDistributor {
    std::uint32_t gpcs, tpcs;
    std::optional<std::string> partitioning; ///< `none`, `static`, `dynamic` (MPS), `undefined`
    std::optional<std::string> table;        ///< `none`, `enable`, `lmem`, `undefined`
    std::optional<std::uint32_t> veid_offset, table_offset;
    std::vector<std::uint32_t> gpc_tpc_id, sm_id; ///< raw words
};

} // namespace nvdebug
