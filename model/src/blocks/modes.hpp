// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "blocks/register_block.hpp"
#include "board/generation.hpp"

#include <cstdint>
#include <vector>

namespace nvmodel {

/// The modes that the firmware has set. They stay over a reset.
struct Modes {
    bool mig = false;          // the GPU is divided into parts
    bool confidential = false; // confidential computing
};

/// The registers that show modes, wherever they are. The register blocks around them leave them
/// out.
class ModeBlock final : public RegisterBlock {
  public:
    /// Keeps a reference to the modes.
    ModeBlock(const Generation &generation, const Modes &modes);
    ReadAnswer read(std::uint32_t offset) override;
    Answer write(std::uint32_t offset, std::uint32_t value) override;

    /// Offsets of the registers, in order.
    [[nodiscard]] std::vector<std::uint32_t> offsets() const;

  private:
    struct Register {
        std::uint32_t offset;
        std::uint32_t word; // value with all modes off
        std::uint32_t bits; // set by a mode
        const bool *mode;
    };
    std::vector<Register> registers_;
};

} // namespace nvmodel
