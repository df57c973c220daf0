// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file A warp scheduler, greedy-then-oldest: it chooses the same warp again, or else the warp
 * that has been on the SM for longest.
 */
#ifndef NVDEBUG_LAB_QUOTAS_ENGINE_SCHEDULER_HPP
#define NVDEBUG_LAB_QUOTAS_ENGINE_SCHEDULER_HPP

#include <array>
#include <bit>

#include "warp.hpp"

namespace engine {

class Scheduler {
  public:
    static constexpr int most = 64; ///< warps
    explicit Scheduler(std::size_t kernels) : ready_(kernels, 0) {}

    int warps() const { return std::popcount(used_); }

    /** Adds a warp as the youngest one. There are at most 64 warps. */
    void attach(Live &live, std::int32_t number) {
        if (end_ == most)
            close_up(live);
        Warp &warp = live.warp(number);
        warp.position = static_cast<std::uint8_t>(end_);
        warps_[static_cast<std::size_t>(end_++)] = number;
        used_ |= bit(warp);
    }
    void detach(const Warp &warp) {
        used_ &= ~bit(warp);
        ready_[warp.kernel] &= ~bit(warp);
        if (last_ == warp.position)
            last_ = none;
    }
    void set_ready(const Warp &warp) { ready_[warp.kernel] |= bit(warp); }
    void set_waiting(const Warp &warp) { ready_[warp.kernel] &= ~bit(warp); }

    /** Returns a bit for each warp of a kernel that can issue. The oldest warp has the lowest bit.
     */
    std::uint64_t ready(std::size_t kernel) const { return ready_[kernel]; }

    /** Chooses a warp. @param among bits of warps that may issue, not 0 */
    std::int32_t choose(std::uint64_t among) {
        if (last_ == none || !(among >> last_ & 1))
            last_ = std::countr_zero(among);
        return warps_[static_cast<std::size_t>(last_)];
    }
    /** Returns the bit of the last chosen warp. */
    std::uint64_t chosen() const { return last_ == none ? 0 : std::uint64_t{1} << last_; }

  private:
    static constexpr int none = -1;
    static std::uint64_t bit(const Warp &warp) { return std::uint64_t{1} << warp.position; }

    /** Moves the warps together in the same order, so that the last places are free. */
    void close_up(Live &live) {
        int end = 0;
        std::uint64_t used = 0;
        for (std::uint64_t &ready : ready_)
            ready = 0;
        for (int from = 0; from < most; from++) {
            if (!(used_ >> from & 1))
                continue;
            const std::int32_t number = warps_[static_cast<std::size_t>(from)];
            Warp &warp = live.warp(number);
            if (last_ == from)
                last_ = end;
            warp.position = static_cast<std::uint8_t>(end);
            warps_[static_cast<std::size_t>(end++)] = number;
            used |= bit(warp);
            if (warp.state == Warp::State::ready)
                set_ready(warp);
        }
        used_ = used;
        end_ = end;
    }

    std::array<std::int32_t, most> warps_ = {};
    std::uint64_t used_ = 0;
    std::vector<std::uint64_t> ready_;
    int end_ = 0, last_ = none;
};

} // namespace engine

#endif
