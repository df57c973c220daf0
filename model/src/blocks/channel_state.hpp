// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "blocks/pfifo.hpp"
#include "blocks/register_block.hpp"
#include "board/board.hpp"
#include "host/host.hpp"

namespace nvmodel {

/// NV_PCCSR: two words per channel of the GPU, Kepler..Turing.
class PccsrBlock final : public RegisterBlock {
  public:
    PccsrBlock(const Board &board, Host &host, FifoErrors &errors)
        : generation_(*board.generation), count_(board.channels), host_(host), errors_(errors) {}
    ReadAnswer read(std::uint32_t offset) override;
    Answer write(std::uint32_t offset, std::uint32_t value) override;

  private:
    [[nodiscard]] std::uint32_t state(const Channel &channel) const;
    void write_instance(std::size_t index, std::uint32_t value);
    void write_state(std::size_t index, std::uint32_t value);

    const Generation &generation_;
    unsigned count_;
    Host &host_;
    FifoErrors &errors_;
};

/// NV_CHRAM: one word per channel of a runlist, Ampere+. A write changes only the bits that are
/// ones in it; bit 0 selects whether it sets or clears them.
class ChramBlock final : public RegisterBlock {
  public:
    ChramBlock(const Board &board, Host &host, unsigned runlist, std::uint32_t base)
        : count_(board.channels), host_(host), runlist_(runlist), base_(base) {}
    ReadAnswer read(std::uint32_t offset) override;
    Answer write(std::uint32_t offset, std::uint32_t value) override;

  private:
    unsigned count_;
    Host &host_;
    unsigned runlist_;
    std::uint32_t base_;
};

} // namespace nvmodel
