// SPDX-License-Identifier: MIT OR GPL-2.0
#include "blocks/bus.hpp"

#include "blocks/constants.hpp"
#include "regs/pbus.hpp"

#include <array>

namespace nvmodel {

using namespace regs;

std::optional<PhysicalAddress> BusState::behind_window(std::uint32_t offset) const {
    const auto aperture = aperture_from_target(pbus::window_target.get(window));
    if (!aperture)
        return std::nullopt;
    const std::uint64_t base = std::uint64_t{pbus::window_base.get(window)} << pbus::window_shift;
    return PhysicalAddress{*aperture, base + offset};
}

namespace {

class WindowBlock final : public RegisterBlock {
  public:
    WindowBlock(BusState &state, std::uint32_t offset, std::uint32_t mask)
        : state_(state), offset_(offset), mask_(mask) {}

    ReadAnswer read(std::uint32_t offset) override {
        return offset == offset_ ? ReadAnswer{state_.window} : ReadAnswer::unmodelled();
    }
    Answer write(std::uint32_t offset, std::uint32_t value) override {
        if (offset != offset_)
            return Answer::unmodelled;
        state_.window = value & mask_;
        return Answer::done;
    }

  private:
    BusState &state_;
    std::uint32_t offset_;
    std::uint32_t mask_;
};

/// Up to Ada each BAR has one register, in PBUS or in the function page. Binds complete at once.
class SingleBarBlocks final : public RegisterBlock {
  public:
    struct Offsets {
        std::uint32_t bar1;
        std::uint32_t bar2;
        std::uint32_t bind_status;
    };

    SingleBarBlocks(BusState &state, Offsets at) : state_(state), at_(at) {}

    ReadAnswer read(std::uint32_t offset) override {
        if (offset == at_.bar1)
            return {word(state_.bar1)};
        if (offset == at_.bar2)
            return {word(state_.bar2)};
        return offset == at_.bind_status ? ReadAnswer{0} : ReadAnswer::unmodelled();
    }
    Answer write(std::uint32_t offset, std::uint32_t value) override {
        if (offset == at_.bind_status)
            return Answer::read_only;
        if (offset != at_.bar1 && offset != at_.bar2)
            return Answer::unmodelled;
        BarBinding &bar = offset == at_.bar1 ? state_.bar1 : state_.bar2;
        bar = {.translated = pbus::block_mode.test(value),
               .target = pbus::block_target.get(value),
               .instance = std::uint64_t{pbus::block_ptr.get(value)} << 12,
               .debug_cya = offset == at_.bar2 && pbus::block_debug_cya.test(value)};
        return Answer::done;
    }

  private:
    static std::uint32_t word(const BarBinding &bar) {
        return pbus::block_mode.put(bar.translated ? 1 : 0) | pbus::block_target.put(bar.target) |
               pbus::block_ptr.put(low32(bar.instance >> 12)) |
               pbus::block_debug_cya.put(bar.debug_cya ? 1 : 0);
    }

    BusState &state_;
    Offsets at_;
};

/// From Hopper on each BAR has a pair of registers. Writing the upper one binds at once, so PENDING
/// and OUTSTANDING always read 0.
class PairedBarBlocks final : public RegisterBlock {
  public:
    explicit PairedBarBlocks(BusState &state)
        : bars_{Pair{pbus::vf_bar1_block_low, pbus::vf_bar1_block_high, 0xffffffff, state.bar1},
                Pair{pbus::vf_bar2_block_low, pbus::vf_bar2_block_high,
                     pbus::vf_bar2_block_high_ptr.mask(), state.bar2}} {}

    ReadAnswer read(std::uint32_t offset) override {
        for (const Pair &pair : bars_) {
            if (offset == pair.low)
                return {pair.low_word};
            if (offset == pair.high)
                return {pair.high_word};
        }
        // An H100 and an H200 were read, and answer so.
        if (offset == pbus::vf_bar1_block || offset == pbus::vf_bar2_block ||
            offset == pbus::vf_bind_status)
            return {0, Answer::unmodelled};
        return ReadAnswer::unmodelled();
    }
    Answer write(std::uint32_t offset, std::uint32_t value) override {
        for (Pair &pair : bars_) {
            if (offset == pair.low) {
                pair.low_word =
                    value & (pbus::block_low_mode.mask() | pbus::block_low_target.mask() |
                             pbus::block_low_ptr.mask());
                return Answer::done;
            }
            if (offset == pair.high) {
                pair.high_word = value & pair.high_mask;
                pair.bar = {.translated = pbus::block_low_mode.test(pair.low_word),
                            .target = pbus::block_low_target.get(pair.low_word),
                            .instance =
                                join(pair.high_word, pair.low_word & pbus::block_low_ptr.mask())};
                return Answer::done;
            }
        }
        return Answer::unmodelled;
    }

  private:
    struct Pair {
        std::uint32_t low;
        std::uint32_t high;
        std::uint32_t high_mask;
        BarBinding &bar;
        std::uint32_t low_word = 0;
        std::uint32_t high_word = 0;
    };
    std::array<Pair, 2> bars_;
};

} // namespace

std::unique_ptr<RegisterBlock> make_window(const Generation &generation, BusState &state) {
    return std::make_unique<WindowBlock>(state, generation.window_register, generation.window_mask);
}

std::unique_ptr<RegisterBlock> make_pbus(const Generation &generation, BusState &state) {
    if (generation.bar_block != BarBlock::vf_paired)
        return std::make_unique<SingleBarBlocks>(
            state, SingleBarBlocks::Offsets{pbus::bar1_block, pbus::bar2_block, pbus::bind_status});
    return std::make_unique<ConstantsBlock>();
}

std::unique_ptr<RegisterBlock> make_function_page(const Generation &generation, BusState &state) {
    switch (generation.bar_block) {
    case BarBlock::pbus:
        return nullptr;
    case BarBlock::pbus_and_vf:
        return std::make_unique<SingleBarBlocks>(
            state, SingleBarBlocks::Offsets{pbus::vf_bar1_block, pbus::vf_bar2_block,
                                            pbus::vf_bind_status});
    case BarBlock::vf_paired:
        return std::make_unique<PairedBarBlocks>(state);
    }
    return nullptr;
}

} // namespace nvmodel
