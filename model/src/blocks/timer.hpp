// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "base/time.hpp"
#include "blocks/register_block.hpp"
#include "host/host.hpp"

namespace nvmodel {

/// NV_PTIMER: virtual time since power-up, plus what a driver set it to.
class TimerBlock final : public RegisterBlock {
  public:
    explicit TimerBlock(const Host &host) : host_(host) {}
    ReadAnswer read(std::uint32_t offset) override;
    Answer write(std::uint32_t offset, std::uint32_t value) override;

    [[nodiscard]] std::uint32_t time_0() const;
    [[nodiscard]] std::uint32_t time_1() const;

  private:
    [[nodiscard]] std::uint64_t time() const {
        return static_cast<std::uint64_t>(host_.now()) + epoch_;
    }

    const Host &host_;
    std::uint64_t epoch_ = 0;
    std::uint32_t new_time_1_ = 0; // takes effect with the write of TIME_0
};

} // namespace nvmodel
