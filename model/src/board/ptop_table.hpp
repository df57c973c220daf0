// SPDX-License-Identifier: MIT OR GPL-2.0
// Makes PTOP's device table from a board's engines.
#pragma once

#include "board/board.hpp"

#include <cstdint>
#include <vector>

namespace nvmodel {

/// Version 1 (Kepler..Turing) has 64 words: ENUM, ENGINE_TYPE and (except on Kepler) DATA per
/// device, in the order that was seen on a GK107 and a gv11b; unused words are 0 (NOT_VALID).
std::vector<std::uint32_t> ptop_v1_words(const Board &board);

/// Versions 2 (Ampere+) and 3 (GB20C: nvgpu hw_top_gb20c.h) have up to three rows per device of a
/// die, and two for a device that Host does not drive.
std::vector<std::uint32_t> ptop_v2_rows(const Board &board, unsigned die = 0);

} // namespace nvmodel
