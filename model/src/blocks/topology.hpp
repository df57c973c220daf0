// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "blocks/register_block.hpp"
#include "board/board.hpp"

#include <memory>

namespace nvmodel {

/// NV_PTOP: the engines, and the unit counts of the chip's design.
std::unique_ptr<RegisterBlock> make_ptop(const Board &board);

/// NV_FUSE: units that are off. The overrides (CTRL_OPT) only store.
std::unique_ptr<RegisterBlock> make_fuse(const Board &board);

/// Makes the registers with the physical GPC of each logical one, if the board's order is known.
std::unique_ptr<RegisterBlock> make_gpc_map(const Board &board);

/// The PRI ring: the number of GPCs that answer.
std::unique_ptr<RegisterBlock> make_pri_ring(const Board &board);

} // namespace nvmodel
