// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file The blocks of a kernel that have yet to be placed on an SM, and its launches. */
#ifndef NVDEBUG_LAB_QUOTAS_ENGINE_GRID_HPP
#define NVDEBUG_LAB_QUOTAS_ENGINE_GRID_HPP

#include "random.hpp"
#include "wheel.hpp"

namespace engine {

class Grid {
  public:
    Grid(std::uint8_t kernel, std::uint64_t seed) : kernel_(kernel), seed_(seed) {}

    bool has_more() const { return pending_ > 0 || !saved_.empty(); }
    /** Returns the cycle of the next launch, or `never` while blocks of this launch run. */
    std::int64_t launch_at() const { return launch_at_; }
    std::int64_t launches() const { return launches_; }

    void launch(const Kernel &kernel) {
        pending_ = alive_ = kernel.blocks;
        launches_++;
        launch_at_ = never;
    }
    /** Takes the next block, first the blocks that were saved. has_more() must be true. */
    std::int32_t take(Live &live, const Kernel &kernel) {
        if (!saved_.empty()) {
            const std::int32_t found = saved_.back();
            saved_.pop_back();
            return found;
        }
        pending_--;
        const std::int32_t found = live.add(kernel_, kernel.need);
        begin(live, live.at(found), kernel);
        return found;
    }
    void save(std::int32_t block) { saved_.push_back(block); }
    void ended(const Kernel &kernel, std::int64_t now) {
        if (--alive_ == 0)
            launch_at_ = now + 1 + kernel.gap;
    }

  private:
    void begin(Live &live, Block &block, const Kernel &kernel) const {
        block.running = block.warps;
        block.waiting = block.at_barrier = 0;
        block.leaving = block.saved = false;
        for (std::int32_t n = 0; n < block.warps; n++) {
            const std::uint64_t chance =
                mixed(mixed(seed_ ^ static_cast<std::uint64_t>(launches_ * 64 + kernel_)) ^
                      static_cast<std::uint64_t>(pending_ * 64 + n));
            Warp &warp = live.warp(block.first + n);
            warp.step = 0;
            warp.state = Warp::State::ready;
            warp.far = static_cast<std::uint8_t>(chance);
            const std::int64_t most = kernel.turns * kernel.spread / 100;
            warp.left =
                kernel.turns - most +
                static_cast<std::int64_t>((chance >> 8) % static_cast<std::uint64_t>(2 * most + 1));
        }
    }

    std::uint8_t kernel_;
    std::uint64_t seed_;
    std::int64_t pending_ = 0, alive_ = 0, launches_ = 0, launch_at_ = 0;
    std::vector<std::int32_t> saved_;
};

} // namespace engine

#endif
