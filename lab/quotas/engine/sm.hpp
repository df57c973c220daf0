// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file One SM with its blocks, its schedulers and its waiting warps. */
#ifndef NVDEBUG_LAB_QUOTAS_ENGINE_SM_HPP
#define NVDEBUG_LAB_QUOTAS_ENGINE_SM_HPP

#include "lab/quotas/machine/machine.hpp"
#include "memory.hpp"
#include "room.hpp"
#include "scheduler.hpp"
#include "wheel.hpp"

namespace engine {

/** The parts that all SMs share. */
struct Stage {
    std::vector<Kernel> kernels;
    Live live;
    Memory memory;
    qos::Machine *machine = nullptr; ///< null: every warp that is ready may issue
};

class Sm {
  public:
    Sm(std::size_t number, const SmShape &shape, std::size_t kernels);

    /** Issues the instructions that can be issued in this cycle. */
    void cycle(Stage &stage, std::int64_t now);

    /** Puts a block on the SM, which must have room for it. */
    void place(Stage &stage, std::int32_t block, std::int64_t now);
    /** Stops the youngest blocks of a kernel. They are in left() once they are saved.
     * @param count at most blocks() */
    void evict(Stage &stage, std::size_t kernel, int count, std::int64_t now);

    /** Returns the blocks that have ended in this cycle; left() returns the evicted blocks that
     * have left. Their room is free. The caller empties both lists. */
    std::vector<std::int32_t> &ended() { return ended_; }
    std::vector<std::int32_t> &left() { return left_; }

    const Room &room() const { return room_; }
    /** Returns how many blocks of a kernel are on the SM and not evicted. */
    int blocks(std::size_t kernel) const { return counts_[kernel]; }
    bool is_evicting() const { return !leaving_.empty(); }
    /** Returns the thread instructions of a kernel so far. */
    std::int64_t used(std::size_t kernel) const { return used_[kernel]; }
    /** Returns, after cycle(), how many warps are ready and were not issued in it. */
    int idle(std::size_t kernel, std::int64_t now) const;

    /** Returns the first cycle in which cycle() may do something, unless another SM changes a
     * counter earlier. */
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
    std::vector<std::uint64_t> issued_; ///< by scheduler: the bit of the last issued warp
    std::vector<char> open_;            ///< by kernel: may it issue?
    std::vector<int> counts_;
    std::vector<std::int64_t> used_;
    Wheel wheel_;
    std::vector<std::int32_t> blocks_; ///< the oldest first
    std::vector<std::int32_t> leaving_, left_, ended_;
    std::int64_t saved_at_ = 0; ///< the cycle in which all blocks of leaving_ are saved
    std::int64_t port_ = 0;     ///< the cycle from which on the SM can ask for another line
    std::int64_t last_ = -1;    ///< the last cycle of cycle()
    std::int64_t wakes_at_ = 0;
};

} // namespace engine

#endif
