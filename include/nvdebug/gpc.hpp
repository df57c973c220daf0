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

struct Gpc {
    std::uint32_t gpc; ///< physical number
    bool off;          ///< fused off or floor-swept
    /// Bit n: TPC n is off, over the chip's design; empty: not readable.
    std::optional<std::uint32_t> tpc_off_mask;
};

struct Sm {
    std::uint32_t sm, gpc, tpc; ///< logical GPC, TPC in it
};

/// The chip as designed, and what is off. Numbers a register of this chip does not hold: empty.
struct GpcTopology {
    std::optional<std::uint32_t> num_gpcs, num_tpc_per_gpc, num_ces, num_fbps, num_ltcs;
    std::optional<std::uint32_t> gpc_off_mask;
    std::vector<Gpc> gpcs; ///< num_gpcs of them, by physical number; none without gpc_off_mask
    std::optional<std::vector<Sm>> sms;  ///< by rising SM id; empty: no public register
    std::optional<std::string> sms_note; ///< why sms is empty
    std::vector<Error> unread; ///< of each file that is there, but cannot be read (now, or by us)
};

/// `work_distributor`.
struct WorkDistributor {
    std::uint32_t gpcs, tpcs;
    std::optional<std::string> partitioning; ///< `none`, `static`, `dynamic` (MPS), `undefined`
    std::optional<std::string> table;        ///< `none`, `enable`, `lmem`, `undefined`
    std::optional<std::uint32_t> veid_offset, table_offset;
    std::vector<std::uint32_t> gpc_tpc_id, sm_id; ///< raw words
};

} // namespace nvdebug
