// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "blocks/register_block.hpp"
#include "board/board.hpp"

#include <memory>

namespace nvmodel {

/// The registers with the size of video memory. Throws ConfigError if a size cannot be expressed in
/// the form that the board's generation has.
std::unique_ptr<RegisterBlock> make_memory_size(const Board &board);

} // namespace nvmodel
