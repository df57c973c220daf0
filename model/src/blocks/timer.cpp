// SPDX-License-Identifier: MIT OR GPL-2.0
#include "blocks/timer.hpp"

#include "base/bits.hpp"
#include "regs/timer.hpp"

namespace nvmodel {

using namespace regs;

std::uint32_t TimerBlock::time_0() const {
    return low32(time()) & timer::time_0_mask;
}

std::uint32_t TimerBlock::time_1() const {
    return high32(time()) & timer::time_1_mask;
}

ReadAnswer TimerBlock::read(std::uint32_t offset) {
    if (offset == timer::time_0)
        return {time_0()};
    return offset == timer::time_1 ? ReadAnswer{time_1()} : ReadAnswer::unmodelled();
}

Answer TimerBlock::write(std::uint32_t offset, std::uint32_t value) {
    if (offset == timer::time_1) {
        new_time_1_ = value & timer::time_1_mask;
        return Answer::done;
    }
    if (offset != timer::time_0)
        return Answer::unmodelled;
    epoch_ =
        join(new_time_1_, value & timer::time_0_mask) - static_cast<std::uint64_t>(host_.now());
    return Answer::done;
}

} // namespace nvmodel
