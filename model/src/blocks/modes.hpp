// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "blocks/register_block.hpp"
#include "board/generation.hpp"

#include <cstdint>
#include <vector>

namespace nvmodel {

/// How the firmware set the GPU up: stays over a reset.
struct Modes {
    bool mig = false;          // the GPU is shared out in parts
    bool confidential = false; // confidential computing
};

/// Registers that show it, wherever they are; the register blocks around them do not have them.
class ModeBlock final : public RegisterBlock {
  public:
    /// Refers to the modes.
    ModeBlock(const Generation &generation, const Modes &modes);
    ReadAnswer read(std::uint32_t offset) override;
    Answer write(std::uint32_t offset, std::uint32_t value) override;

    /// The offset of each, in order.
    [[nodiscard]] std::vector<std::uint32_t> offsets() const;

  private:
    struct Register {
        std::uint32_t offset;
        std::uint32_t word; // with all off
        std::uint32_t bits; // that a mode sets
        const bool *mode;
    };
    std::vector<Register> registers_;
};

} // namespace nvmodel
