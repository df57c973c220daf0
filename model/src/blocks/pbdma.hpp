// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "blocks/register_block.hpp"
#include "board/board.hpp"
#include "host/host.hpp"
#include "memory/memory.hpp"

namespace nvmodel {

/// NV_PPBDMA: the channel that each PBDMA has loaded. It is read-only here, since writing to a
/// PBDMA with a loaded channel corrupts that channel.
class PbdmaBlock final : public RegisterBlock {
  public:
    PbdmaBlock(const Board &board, const Host &host, const Memory &memory)
        : generation_(*board.generation), host_(host), memory_(memory) {}
    ReadAnswer read(std::uint32_t offset) override;
    Answer write(std::uint32_t offset, std::uint32_t value) override;

  private:
    [[nodiscard]] ReadAnswer read_ampere(const Pbdma &pbdma, std::uint32_t at) const;
    [[nodiscard]] std::uint32_t saved_word(const Pbdma &pbdma, unsigned word) const;

    const Generation &generation_;
    const Host &host_;
    const Memory &memory_;
};

} // namespace nvmodel
