// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file One SM: its blocks, its schedulers, its warps that wait. */
#ifndef NVDEBUG_LAB_QUOTAS_ENGINE_SM_HPP
#define NVDEBUG_LAB_QUOTAS_ENGINE_SM_HPP

#include "lab/quotas/machine/machine.hpp"
#include "memory.hpp"
#include "room.hpp"
#include "scheduler.hpp"
#include "wheel.hpp"

namespace engine {

/** What all SMs have in common. */
struct Stage {
    std::vector<Kernel> kernels;
    Live live;
    Memory memory;
    qos::Machine *machine = nullptr; ///< null: every warp that is ready may issue
};

class Sm {
  public:
    Sm(std::size_t number, const SmShape &shape, std::size_t kernels);

    /** Issues what can be issued in this cycle. */
    void cycle(Stage &stage, std::int64_t now);

    /** Room must be there. */
    void place(Stage &stage, std::int32_t block, std::int64_t now);
    /** The youngest blocks of a kernel stop, and leave once they are saved: left().
     * @param count at most blocks() */
    void evict(Stage &stage, std::size_t kernel, int count, std::int64_t now);

    /** Blocks that have ended in this cycle, and those that were evicted and have left. Their room
     * is free; the caller empties both. */
    std::vector<std::int32_t> &ended() { return ended_; }
    std::vector<std::int32_t> &left() { return left_; }

    const Room &room() const { return room_; }
    /** Those of a kernel that are here and not on their way out. */
    int blocks(std::size_t kernel) const { return counts_[kernel]; }
    bool is_evicting() const { return !leaving_.empty(); }
    /** Thread instructions so far. */
    std::int64_t used(std::size_t kernel) const { return used_[kernel]; }
    /** Warps that are ready and were not issued in this cycle, after cycle(). */
    int idle(std::size_t kernel, std::int64_t now) const;

    /** Until this cycle cycle() would do nothing, if no counter is changed by others. */
    std::int64_t wakes_at() const { return wakes_at_; }
    void wake(std::int64_t cycle) { wakes_at_ = std::min(wakes_at_, cycle); }

  private:
    void find_open(const Stage &stage);
    void issue(Stage &stage, Scheduler &scheduler, std::int32_t number, std::int64_t now);
    std::int64_t request(Stage &stage, Warp &warp, const Step &step, std::int64_t now);
    void wait(Stage &stage, std::int32_t number, std::int64_t due, std::int64_t now);
    void end(Stage &stage, Warp &warp, std::int64_t now);
    void arrive(Stage &stage, Warp &warp, const Step &step, std::int64_t now);
    void release(Stage &stage, Block &block, std::int64_t due, std::int64_t now);
    void attach(Stage &stage, std::int32_t number);
    void let_leave(Stage &stage);

    std::size_t number_;
    Room room_;
    std::vector<Scheduler> schedulers_;
    std::vector<std::uint64_t> issued_; ///< by scheduler: the bit of the warp that it issued last
    std::vector<char> open_;            ///< by kernel: may it issue?
    std::vector<int> counts_;
    std::vector<std::int64_t> used_;
    Wheel wheel_;
    std::vector<std::int32_t> blocks_; ///< the oldest first
    std::vector<std::int32_t> leaving_, left_, ended_;
    std::int64_t saved_at_ = 0; ///< all of leaving_
    std::int64_t port_ = 0;     ///< the cycle from which on the SM can ask for another line
    std::int64_t last_ = -1;    ///< cycle()
    std::int64_t wakes_at_ = 0;
};

} // namespace engine

#endif
