// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "blocks/register_block.hpp"
#include "board/board.hpp"

#include <memory>

namespace nvmodel {

/// Makes the registers with the size of video memory. Throws ConfigError if the form of the board's
/// generation cannot express a size.
std::unique_ptr<RegisterBlock> make_memory_size(const Board &board);

} // namespace nvmodel
