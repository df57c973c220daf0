// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A ticket lock in memory that processes share: within a level, it serves requests in the
/// order in which they came. The process that waited for a killed process takes it out.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <pthread.h>

#include "time.hpp"

namespace stgm {

/// Returns the time by CLOCK_MONOTONIC.
inline Time now_ns() {
    timespec at{};
    clock_gettime(CLOCK_MONOTONIC, &at);
    return Time{at.tv_sec} * 1'000'000'000 + at.tv_nsec;
}

/// A lock with a slot for each process. A request waits for all earlier requests of slots that it
/// excludes, whether these hold the lock or wait for it. A request goes before waiting
/// requests of lower levels, but it never takes the lock from a holder.
///
/// A ticket lock has three uses. If all slots exclude each other it is a mutex, as for the copy
/// engine. If slots exclude each other that share an SM, it decides in which order kernels start.
/// With levels it is a core that tasks hand to each other: the holder asks is_asked_for() whether a
/// task of a higher level waits.
///
/// A ticket lock is in shared memory, which is full of zeros before init().
class TicketLock {
  public:
    static constexpr std::size_t slots = 64;

    TicketLock() = default;
    TicketLock(const TicketLock &) = delete;
    TicketLock &operator=(const TicketLock &) = delete;

    /// Makes all slots exclude each other. Is called once, by the process that made the memory.
    void init();
    /// Lets two slots hold the lock at the same time. Is called before the first request.
    void let_together(std::size_t a, std::size_t b);

    /// Makes a request, so that the slot waits from now on.
    /// @param level a larger level goes first
    void ask(std::size_t slot, int level = 0);
    /// Waits until it is the turn of the slot, which has asked.
    /// @param spin keep the CPU while waiting
    void wait(std::size_t slot, bool spin);
    void take(std::size_t slot, bool spin, int level = 0) {
        ask(slot, level);
        wait(slot, spin);
    }
    /// Gives the turn to the next slots. Returns the time at which it did so.
    Time leave(std::size_t slot);
    /// Changes the level of a slot that holds the lock.
    void set_level(std::size_t slot, int level);
    /// Returns true if a request of a higher level waits for this slot, which holds the lock.
    bool is_asked_for(std::size_t slot) const {
        return asked_for_[slot].load(std::memory_order_relaxed);
    }
    /// Returns when the slot, which holds the lock, got its turn. Its process runs only later.
    Time granted_at(std::size_t slot) const { return granted_at_[slot]; }
    /// Takes out the slot of a process that has ended, in whatever state. Is called by the process
    /// that has waited for it.
    void leave_for_ended(std::size_t slot);

    bool is_in(std::size_t slot) const { return state_[slot].load() == granted; }
    bool waits(std::size_t slot) const { return state_[slot].load() == waiting; }

  private:
    enum : std::uint32_t { absent, waiting, granted };

    void lock();
    void unlock();
    bool is_turn_of(std::size_t slot) const;
    bool goes_before(std::size_t slot, std::size_t other) const;
    void look_who_is_asked_for();
    std::uint64_t grant(Time at);
    void wake(std::uint64_t which);
    std::uint64_t withdraw(std::size_t slot, Time *at);

    pthread_mutex_t mutex_; ///< robust; the members below are consistent after each single store
    std::uint64_t last_ticket_;
    std::uint64_t tickets_[slots]; ///< 0: the slot has no request
    std::uint64_t excludes_[slots];
    int levels_[slots];
    Time granted_at_[slots];
    std::atomic<bool> asked_for_[slots];
    std::atomic<std::uint32_t> state_[slots]; ///< futexes
};

} // namespace stgm
