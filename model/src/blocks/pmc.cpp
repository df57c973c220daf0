// SPDX-License-Identifier: MIT OR GPL-2.0
#include "blocks/pmc.hpp"

#include "regs/pmc.hpp"

namespace nvmodel {

using namespace regs;

PmcBlock::PmcBlock(const Board &board) : chip_(board.chip) {
    if (board.generation->ptop != PtopVersion::v1)
        return;
    std::uint32_t enable = pmc::enable_host.mask();
    for (const EngineRow &row : board.engines)
        if (row.reset)
            enable |= 1U << *row.reset;
    enable_ = enable;
}

ReadAnswer PmcBlock::read(std::uint32_t offset) {
    switch (offset) {
    case pmc::boot_0:
        return {chip_.boot_0};
    case pmc::boot_1:
        return {chip_.boot_1};
    case pmc::boot_42:
        return {chip_.boot_42};
    case pmc::enable:
        return enable_ ? ReadAnswer{*enable_} : ReadAnswer::unmodelled();
    default:
        return ReadAnswer::unmodelled();
    }
}

Answer PmcBlock::write(std::uint32_t offset, std::uint32_t value) {
    if (offset == pmc::enable && enable_) {
        enable_ = value;
        return Answer::done;
    }
    return read(offset).answer == Answer::done ? Answer::read_only : Answer::unmodelled;
}

} // namespace nvmodel
