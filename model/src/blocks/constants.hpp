// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "blocks/register_block.hpp"

#include <map>

namespace nvmodel {

/// Registers that never change.
class ConstantsBlock final : public RegisterBlock {
  public:
    void set(std::uint32_t offset, std::uint32_t value) { values_[offset] = value; }

    ReadAnswer read(std::uint32_t offset) override {
        const auto found = values_.find(offset);
        return found == values_.end() ? ReadAnswer::unmodelled() : ReadAnswer{found->second};
    }
    Answer write(std::uint32_t offset, std::uint32_t) override {
        return values_.contains(offset) ? Answer::read_only : Answer::unmodelled;
    }

  private:
    std::map<std::uint32_t, std::uint32_t> values_;
};

} // namespace nvmodel
