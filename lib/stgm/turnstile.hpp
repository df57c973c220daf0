// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A ticket lock in memory that processes share: within a level, requests are served in
/// the order in which they came. A process that was killed is taken out of it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <pthread.h>

#include "time.hpp"

namespace stgm {

/// By CLOCK_MONOTONIC.
inline Time now_ns() {
    timespec at{};
    clock_gettime(CLOCK_MONOTONIC, &at);
    return Time{at.tv_sec} * 1'000'000'000 + at.tv_nsec;
}

/// Each process has a slot, and a request waits for all earlier ones that it excludes, whether
/// these hold the turnstile or wait for it. So it is a lock where all exclude each other, and the
/// order in which kernels start where those exclude each other that share an SM. With levels, a
/// request goes before those of lower ones that wait. A holder keeps the turnstile; is_asked_for()
/// returns whether a request of a higher level waits. So it is a core whose tasks hand it to each
/// other. In shared memory, zeroed before init().
class Turnstile {
  public:
    static constexpr std::size_t slots = 64;

    Turnstile() = default;
    Turnstile(const Turnstile &) = delete;
    Turnstile &operator=(const Turnstile &) = delete;

    /// Once, by who made the memory: all slots exclude each other.
    void init();
    /// Before the first request: two slots may be in at the same time.
    void let_together(std::size_t a, std::size_t b);

    /// The slot waits from now on. @param level larger goes first
    void ask(std::size_t slot, int level = 0);
    /// Returns when it is the turn of the slot, which has asked. @param spin keep the CPU meanwhile
    void wait(std::size_t slot, bool spin);
    void take(std::size_t slot, bool spin, int level = 0) {
        ask(slot, level);
        wait(slot, spin);
    }
    /// @return when it was left: from then on it is the others' turn
    Time leave(std::size_t slot);
    /// Of a slot that is in.
    void set_level(std::size_t slot, int level);
    /// One of a higher level waits for what the slot has.
    bool is_asked_for(std::size_t slot) const {
        return asked_for_[slot].load(std::memory_order_relaxed);
    }
    /// Of a slot that is in: since when, which is before its process finds out.
    Time granted_at(std::size_t slot) const { return granted_at_[slot]; }
    /// For a process that has ended, in whichever state: by who has waited for it.
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

    pthread_mutex_t mutex_; ///< robust; what it guards is right after each single store
    std::uint64_t last_ticket_;
    std::uint64_t tickets_[slots]; ///< 0: none
    std::uint64_t excludes_[slots];
    int levels_[slots];
    Time granted_at_[slots];
    std::atomic<bool> asked_for_[slots];
    std::atomic<std::uint32_t> state_[slots]; ///< futexes
};

} // namespace stgm
