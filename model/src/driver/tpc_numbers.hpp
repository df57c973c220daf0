// SPDX-License-Identifier: MIT OR GPL-2.0
// The order in which drivers number TPCs, and their tables for the work distributor.
#pragma once

#include "board/board.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace nvmodel {

/// Returns the place of each TPC id. Up to Pascal all GPCs take turns. From Volta on the next id
/// goes to the GPC that has most TPCs without an id, to the last of several such GPCs, and there to
/// its last TPC. (nvgpu's hal/gr/config/gr_config_gv100_fusa.c weighs more than that; only a
/// gv11b's table is known.)
std::vector<TpcPlace> number_tpcs(TpcOrder order, std::span<const unsigned> live_tpcs);

struct WorkDistributorWords {
    std::uint32_t fs = 0;
    std::vector<std::uint32_t> gpc_tpc_id; // empty if there is no such table
    std::vector<std::uint32_t> sm_id;
};

WorkDistributorWords encode_work_distributor(const Board &board);

} // namespace nvmodel
