// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file A ticket lock in memory that processes share: who asked first goes first, and a process that was killed is
 *  taken out of it. */
#ifndef NVDEBUG_STGM_TURNSTILE_HPP
#define NVDEBUG_STGM_TURNSTILE_HPP

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <pthread.h>

namespace stgm {

/**
 * Each process has a slot, and a request waits for all earlier ones that it excludes, whether these hold the
 * turnstile or wait for it. So it is a lock where all exclude each other, and the order in which kernels start where
 * those exclude each other that share an SM. In shared memory, zeroed before init().
 */
class Turnstile {
  public:
    static constexpr std::size_t slots = 64;

    Turnstile() = default;
    Turnstile(const Turnstile &) = delete;
    Turnstile &operator=(const Turnstile &) = delete;

    /** Once, by who made the memory: all slots exclude each other. */
    void init();
    /** Before the first request: two slots may be in at the same time. */
    void let_together(std::size_t a, std::size_t b);

    /** Returns when it is the slot's turn. @param spin keep the CPU meanwhile */
    void take(std::size_t slot, bool spin);
    void leave(std::size_t slot);
    /** For a process that has ended, in whichever state: by who has waited for it. */
    void leave_for_ended(std::size_t slot);

    bool is_in(std::size_t slot) const { return state_[slot].load() == granted; }
    bool waits(std::size_t slot) const { return state_[slot].load() == waiting; }

  private:
    enum : std::uint32_t { absent, waiting, granted };

    void lock();
    void unlock();
    bool is_turn_of(std::size_t slot) const;
    std::uint64_t grant();
    void wake(std::uint64_t which);
    std::uint64_t withdraw(std::size_t slot);

    pthread_mutex_t mutex_; ///< robust; what it guards is right after each single store
    std::uint64_t last_ticket_;
    std::uint64_t tickets_[slots]; ///< 0: none
    std::uint64_t excludes_[slots];
    std::atomic<std::uint32_t> state_[slots]; ///< futexes
};

} // namespace stgm

#endif
