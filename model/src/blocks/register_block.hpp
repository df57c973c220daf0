// SPDX-License-Identifier: MIT OR GPL-2.0
// A piece of BAR0: registers of 32 bits, accessed whole.
#pragma once

#include "regs/pri.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace nvmodel {

/// The result of an access; anything but `done` is a violation.
enum class Answer : std::uint8_t { done, unmodelled, write_only, read_only, side_effect };

struct ReadAnswer {
    std::uint32_t value = 0;
    Answer answer = Answer::done;

    static ReadAnswer unmodelled() { return {regs::pri::no_such_address, Answer::unmodelled}; }
    static ReadAnswer write_only() { return {0, Answer::write_only}; }
};

class RegisterBlock {
  public:
    virtual ~RegisterBlock() = default;

    /// `offset` is from the start of BAR0 and a multiple of 4.
    virtual ReadAnswer read(std::uint32_t offset) = 0;
    virtual Answer write(std::uint32_t offset, std::uint32_t value) = 0;
};

/// Several sets of registers that share an address range; each set has its own offsets.
class CompositeBlock final : public RegisterBlock {
  public:
    void add(std::unique_ptr<RegisterBlock> part) { parts_.push_back(std::move(part)); }

    ReadAnswer read(std::uint32_t offset) override {
        for (const auto &part : parts_)
            if (const ReadAnswer got = part->read(offset); got.answer != Answer::unmodelled)
                return got;
        return ReadAnswer::unmodelled();
    }

    Answer write(std::uint32_t offset, std::uint32_t value) override {
        for (const auto &part : parts_)
            if (const Answer got = part->write(offset, value); got != Answer::unmodelled)
                return got;
        return Answer::unmodelled;
    }

  private:
    std::vector<std::unique_ptr<RegisterBlock>> parts_;
};

/// The index of an offset in a register array: base + stride * i, i < count.
constexpr std::optional<unsigned> element(std::uint32_t offset, std::uint32_t base,
                                          std::uint32_t stride, unsigned count) {
    if (offset < base || (offset - base) % stride != 0 || (offset - base) / stride >= count)
        return std::nullopt;
    return (offset - base) / stride;
}

} // namespace nvmodel
