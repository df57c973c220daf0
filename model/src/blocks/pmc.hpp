// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "blocks/register_block.hpp"
#include "board/board.hpp"

namespace nvmodel {

/// NV_PMC: the identity of the chip. Up to Turing also the unit enables, which only store.
class PmcBlock final : public RegisterBlock {
  public:
    explicit PmcBlock(const Board &board);
    ReadAnswer read(std::uint32_t offset) override;
    Answer write(std::uint32_t offset, std::uint32_t value) override;

  private:
    const ChipIdentity &chip_;
    std::optional<std::uint32_t> enable_;
};

} // namespace nvmodel
