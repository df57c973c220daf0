// SPDX-License-Identifier: MIT OR GPL-2.0
#include "ticket_lock.hpp"

#include <cerrno>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace stgm {
namespace {

static_assert(std::atomic<std::uint32_t>::is_always_lock_free &&
              sizeof(std::atomic<std::uint32_t>) == 4);

void futex(std::atomic<std::uint32_t> &word, int what, std::uint32_t value) {
    syscall(SYS_futex, reinterpret_cast<std::uint32_t *>(&word), what, value, nullptr, nullptr, 0);
}

void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

} // namespace

void TicketLock::init() {
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_setpshared(&how, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
    // With priority inheritance, tasks of medium priority cannot preempt a task of low priority
    // that has the mutex while a task of high priority waits for it.
    pthread_mutexattr_setprotocol(&how, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&mutex_, &how);
    pthread_mutexattr_destroy(&how);
    last_ticket_ = 0;
    for (std::size_t slot = 0; slot < slots; slot++) {
        tickets_[slot] = 0;
        excludes_[slot] = ~std::uint64_t{0};
        state_[slot] = absent;
    }
}

void TicketLock::let_together(std::size_t a, std::size_t b) {
    excludes_[a] &= ~(std::uint64_t{1} << b);
    excludes_[b] &= ~(std::uint64_t{1} << a);
}

void TicketLock::lock() {
    // The state is consistent after each single store, so that a process may die inside.
    // leave_for_ended() wakes the slots that got their turn.
    if (pthread_mutex_lock(&mutex_) == EOWNERDEAD)
        pthread_mutex_consistent(&mutex_);
}

void TicketLock::unlock() {
    pthread_mutex_unlock(&mutex_);
}

bool TicketLock::goes_before(std::size_t slot, std::size_t other) const {
    return levels_[slot] != levels_[other] ? levels_[slot] > levels_[other]
                                           : tickets_[slot] < tickets_[other];
}

bool TicketLock::is_turn_of(std::size_t slot) const {
    for (std::size_t other = 0; other < slots; other++)
        if (other != slot && tickets_[other] && (excludes_[slot] >> other & 1) &&
            (state_[other] == granted || goes_before(other, slot)))
            return false;
    return true;
}

void TicketLock::look_who_is_asked_for() {
    for (std::size_t slot = 0; slot < slots; slot++) {
        bool asked = false;
        for (std::size_t other = 0; tickets_[slot] && state_[slot] == granted && other < slots;
             other++)
            asked |= other != slot && tickets_[other] && state_[other] == waiting &&
                     (excludes_[slot] >> other & 1) && levels_[other] > levels_[slot];
        asked_for_[slot].store(asked, std::memory_order_relaxed);
    }
}

std::uint64_t TicketLock::grant(Time at) {
    std::uint64_t found = 0;
    for (std::size_t slot = 0; slot < slots; slot++)
        if (tickets_[slot] && state_[slot] == waiting && is_turn_of(slot)) {
            granted_at_[slot] = at;
            state_[slot] = granted;
            found |= std::uint64_t{1} << slot;
        }
    look_who_is_asked_for();
    return found;
}

void TicketLock::wake(std::uint64_t which) {
    for (std::size_t slot = 0; slot < slots; slot++)
        if (which >> slot & 1)
            futex(state_[slot], FUTEX_WAKE, 1);
}

void TicketLock::ask(std::size_t slot, int level) {
    lock();
    state_[slot] = waiting; // others ignore the slot until it has a ticket
    levels_[slot] = level;
    tickets_[slot] = ++last_ticket_;
    const std::uint64_t turns = grant(now_ns());
    unlock();
    wake(turns & ~(std::uint64_t{1} << slot));
}

void TicketLock::wait(std::size_t slot, bool spin) {
    while (state_[slot] != granted)
        if (spin)
            relax();
        else
            futex(state_[slot], FUTEX_WAIT, waiting);
}

std::uint64_t TicketLock::withdraw(std::size_t slot, Time *at) {
    lock();
    const Time now = now_ns();
    state_[slot] = absent;
    tickets_[slot] = 0;
    const std::uint64_t turns = grant(now);
    unlock();
    if (at)
        *at = now;
    return turns;
}

Time TicketLock::leave(std::size_t slot) {
    Time at = 0;
    wake(withdraw(slot, &at));
    return at;
}

void TicketLock::set_level(std::size_t slot, int level) {
    lock();
    levels_[slot] = level;
    look_who_is_asked_for();
    unlock();
}

void TicketLock::leave_for_ended(std::size_t slot) {
    withdraw(slot, nullptr);
    // The process may have ended after it granted other slots their turn and before it woke them.
    std::uint64_t all = 0;
    for (std::size_t other = 0; other < slots; other++)
        if (state_[other] == granted)
            all |= std::uint64_t{1} << other;
    wake(all);
}

} // namespace stgm
