// SPDX-License-Identifier: MIT OR GPL-2.0
#include "blocks/bus.hpp"

#include "regs/pbus.hpp"

namespace nvmodel {

using namespace regs;

std::optional<PhysicalAddress> BusState::behind_window(std::uint32_t offset) const {
    const auto aperture = aperture_from_target(pbus::window_target.get(window));
    if (!aperture)
        return std::nullopt;
    const std::uint64_t base = std::uint64_t{pbus::window_base.get(window)} << pbus::window_shift;
    return PhysicalAddress{*aperture, base + offset};
}

std::optional<PhysicalAddress> BusState::behind_bar(std::uint32_t block, std::uint64_t offset) {
    if (pbus::block_mode.test(block))
        return std::nullopt;
    return PhysicalAddress{Aperture::video, offset};
}

ReadAnswer BusBlock::read(std::uint32_t offset) {
    switch (offset) {
    case pbus::bar0_window:
        return {state_.window};
    case pbus::bar1_block:
        return {state_.bar1_block};
    case pbus::bar2_block:
        return {state_.bar2_block};
    case pbus::bind_status:
        return {0};
    default:
        return ReadAnswer::unmodelled();
    }
}

Answer BusBlock::write(std::uint32_t offset, std::uint32_t value) {
    constexpr std::uint32_t block_mask =
        pbus::block_ptr.mask() | pbus::block_target.mask() | pbus::block_mode.mask();
    switch (offset) {
    case pbus::bar0_window:
        state_.window = value & (pbus::window_base.mask() | pbus::window_target.mask());
        return Answer::done;
    case pbus::bar1_block:
        state_.bar1_block = value & block_mask;
        return Answer::done;
    case pbus::bar2_block:
        state_.bar2_block = value & (block_mask | pbus::block_debug_cya.mask());
        return Answer::done;
    case pbus::bind_status:
        return Answer::read_only;
    default:
        return Answer::unmodelled;
    }
}

namespace {

/// The PBUS offset that a function-page register mirrors; 0 if there is none.
std::uint32_t legacy_offset(std::uint32_t offset) {
    switch (offset) {
    case pbus::vf_bar1_block:
        return pbus::bar1_block;
    case pbus::vf_bar2_block:
        return pbus::bar2_block;
    case pbus::vf_bind_status:
        return pbus::bind_status;
    default:
        return 0;
    }
}

} // namespace

ReadAnswer FunctionPageBlock::read(std::uint32_t offset) {
    const std::uint32_t legacy = legacy_offset(offset);
    return legacy != 0 ? bus_.read(legacy) : ReadAnswer::unmodelled();
}

Answer FunctionPageBlock::write(std::uint32_t offset, std::uint32_t value) {
    const std::uint32_t legacy = legacy_offset(offset);
    return legacy != 0 ? bus_.write(legacy, value) : Answer::unmodelled;
}

} // namespace nvmodel
