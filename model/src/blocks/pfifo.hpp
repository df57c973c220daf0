// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "blocks/register_block.hpp"
#include "board/board.hpp"
#include "host/host.hpp"

#include <memory>

namespace nvmodel {

/// Errors that PFIFO and PCCSR share: raised there, read and cleared here.
struct FifoErrors {
    std::uint32_t bind_error = 0;
};

/// Makes NV_PFIFO up to Turing, with the submit port, preempt and status registers that the board's
/// generation has.
std::unique_ptr<RegisterBlock> make_pfifo(const Board &board, Host &host, FifoErrors &errors);

} // namespace nvmodel
