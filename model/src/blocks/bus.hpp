// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "base/bits.hpp"
#include "blocks/register_block.hpp"
#include "board/board.hpp"
#include "memory/aperture.hpp"

#include <memory>
#include <optional>

namespace nvmodel {

/// What the PBUS registers hold, and what it means for memory apertures.
class BusState {
  public:
    std::uint32_t window = 0;
    std::uint32_t bar1_block = 0;
    std::uint32_t bar2_block = 0;

    /// Where an offset into the PRAMIN aperture leads; nothing if the target is undefined.
    [[nodiscard]] std::optional<PhysicalAddress> behind_window(std::uint32_t offset) const;

    /// Where an offset into BAR1 or BAR2 leads; nothing if it is not translated. Only physical
    /// mode (the offset is a video-memory address); virtual mode would walk page tables here.
    [[nodiscard]] static std::optional<PhysicalAddress> behind_bar(std::uint32_t block,
                                                                   std::uint64_t offset);
};

/// NV_PBUS: window and BAR instance blocks. Binds complete at once.
class BusBlock final : public RegisterBlock {
  public:
    explicit BusBlock(BusState &state) : state_(state) {}
    ReadAnswer read(std::uint32_t offset) override;
    Answer write(std::uint32_t offset, std::uint32_t value) override;

  private:
    BusState &state_;
};

/// Turing+: the BAR registers once more, in the function page.
class FunctionPageBlock final : public RegisterBlock {
  public:
    explicit FunctionPageBlock(BusState &state) : bus_(state) {}
    ReadAnswer read(std::uint32_t offset) override;
    Answer write(std::uint32_t offset, std::uint32_t value) override;

  private:
    BusBlock bus_;
};

} // namespace nvmodel
