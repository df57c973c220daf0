// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "blocks/register_block.hpp"
#include "board/board.hpp"
#include "host/host.hpp"

#include <array>

namespace nvmodel {

/// NV_RUNLIST: the registers of a runlist, Ampere and newer. Inside, offsets are GA100's. On GB20x
/// they are translated, and registers without a place there are not modelled.
class RunlistBlock final : public RegisterBlock {
  public:
    RunlistBlock(const Board &board, Host &host, const RunlistRow &row);
    ReadAnswer read(std::uint32_t offset) override;
    Answer write(std::uint32_t offset, std::uint32_t value) override;

    /// Rings a doorbell of function 0 for the channel it stands for. Does nothing while the gate
    /// (VIRTUAL_CHANNEL_CFG) is closed.
    void ring(unsigned vector);

    [[nodiscard]] unsigned id() const { return row_.id; }

  private:
    /// Converts an offset of BAR0 to GA100's offset of the register inside the block.
    [[nodiscard]] std::optional<std::uint32_t> locate(std::uint32_t offset) const;
    [[nodiscard]] ReadAnswer read_at(std::uint32_t at);
    Answer write_at(std::uint32_t at, std::uint32_t value);
    [[nodiscard]] bool tsg_preempt_pending() const;
    [[nodiscard]] ReadAnswer read_config(std::uint32_t at) const;
    [[nodiscard]] ReadAnswer read_engine(unsigned slot, std::uint32_t at) const;
    [[nodiscard]] std::uint32_t engine_channel(const Engine &engine, unsigned runqueue) const;
    [[nodiscard]] std::uint32_t interrupts() const;
    void clear_interrupts(std::uint32_t bits);
    void submit();
    void preempt();
    std::uint32_t *stored(std::uint32_t at);
    [[nodiscard]] Runlist &list() const { return *host_.find_runlist(row_.id); }

    const Board &board_;
    Host &host_;
    const RunlistRow &row_;
    std::uint32_t config_;
    std::uint32_t acq_pretest_;
    std::uint32_t idle_filter_;
    std::uint32_t base_lo_ = 0;
    std::uint32_t base_hi_ = 0;
    std::uint32_t submit_ = 0;
    std::uint32_t preempt_ = 0;
    std::array<std::uint32_t, 3> ctxsw_timeout_;
    std::array<std::uint32_t, 64> virtual_channel_cfg_;
};

} // namespace nvmodel
