// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "blocks/register_block.hpp"
#include "board/generation.hpp"

#include <cstdint>
#include <map>

namespace nvmodel {

/// Hopper+: registers that flush or invalidate caches when they are read, and count the reads. A
/// reader of state must not read them, so each read is a violation.
class FlushBlock final : public RegisterBlock {
  public:
    explicit FlushBlock(const Generation &generation);
    ReadAnswer read(std::uint32_t offset) override;
    Answer write(std::uint32_t offset, std::uint32_t value) override;

  private:
    std::map<std::uint32_t, std::uint32_t> tokens_; // by the offset of the register that triggers
};

} // namespace nvmodel
