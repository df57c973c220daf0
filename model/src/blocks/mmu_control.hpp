// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "blocks/register_block.hpp"
#include "mmu/format.hpp"
#include "regs/pfb.hpp"

#include <cstdint>

namespace nvmodel {

/// MMU_CTRL, where page tables of version 1 exist: the size of their big pages, unless instance
/// blocks have it. The value after reset is made up.
class MmuControlBlock final : public RegisterBlock {
  public:
    ReadAnswer read(std::uint32_t offset) override {
        return offset == regs::pfb::mmu_ctrl ? ReadAnswer{word_} : ReadAnswer::unmodelled();
    }
    Answer write(std::uint32_t offset, std::uint32_t value) override {
        if (offset != regs::pfb::mmu_ctrl)
            return Answer::unmodelled;
        word_ = value;
        big_page_ = (regs::pfb::mmu_ctrl_big_page_64k.test(value) ? 64 : 128) * mmu::kib;
        return Answer::done;
    }

    [[nodiscard]] const std::uint64_t &big_page() const { return big_page_; }

  private:
    std::uint32_t word_ = regs::pfb::mmu_ctrl_big_page_64k.mask();
    std::uint64_t big_page_ = 64 * mmu::kib;
};

} // namespace nvmodel
