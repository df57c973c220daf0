// SPDX-License-Identifier: MIT OR GPL-2.0
#include "turnstile.hpp"

#include <cerrno>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace stgm {
namespace {

static_assert(std::atomic<std::uint32_t>::is_always_lock_free && sizeof(std::atomic<std::uint32_t>) == 4);

void futex(std::atomic<std::uint32_t> &word, int what, std::uint32_t value) {
    syscall(SYS_futex, reinterpret_cast<std::uint32_t *>(&word), what, value, nullptr, nullptr, 0);
}

void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

} // namespace

void Turnstile::init() {
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_setpshared(&how, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
    // A task of high priority does not wait behind others for one of low priority that is inside for a moment.
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

void Turnstile::let_together(std::size_t a, std::size_t b) {
    excludes_[a] &= ~(std::uint64_t{1} << b);
    excludes_[b] &= ~(std::uint64_t{1} << a);
}

void Turnstile::lock() {
    // Whoever died inside left it right; those whose turn it became are found by leave_for_ended().
    if (pthread_mutex_lock(&mutex_) == EOWNERDEAD)
        pthread_mutex_consistent(&mutex_);
}

void Turnstile::unlock() { pthread_mutex_unlock(&mutex_); }

bool Turnstile::is_turn_of(std::size_t slot) const {
    for (std::size_t other = 0; other < slots; other++)
        if (other != slot && tickets_[other] && tickets_[other] < tickets_[slot] && (excludes_[slot] >> other & 1))
            return false;
    return true;
}

std::uint64_t Turnstile::grant() {
    std::uint64_t found = 0;
    for (std::size_t slot = 0; slot < slots; slot++)
        if (tickets_[slot] && state_[slot] == waiting && is_turn_of(slot)) {
            state_[slot] = granted;
            found |= std::uint64_t{1} << slot;
        }
    return found;
}

void Turnstile::wake(std::uint64_t which) {
    for (std::size_t slot = 0; slot < slots; slot++)
        if (which >> slot & 1)
            futex(state_[slot], FUTEX_WAKE, 1);
}

void Turnstile::take(std::size_t slot, bool spin) {
    lock();
    state_[slot] = waiting; // without a ticket it is nobody's
    tickets_[slot] = ++last_ticket_;
    if (is_turn_of(slot))
        state_[slot] = granted;
    unlock();
    while (state_[slot] != granted)
        if (spin)
            relax();
        else
            futex(state_[slot], FUTEX_WAIT, waiting);
}

std::uint64_t Turnstile::withdraw(std::size_t slot) {
    lock();
    state_[slot] = absent;
    tickets_[slot] = 0;
    const std::uint64_t turns = grant();
    unlock();
    return turns;
}

void Turnstile::leave(std::size_t slot) { wake(withdraw(slot)); }

void Turnstile::leave_for_ended(std::size_t slot) {
    withdraw(slot);
    // It may have ended between granting and waking.
    std::uint64_t all = 0;
    for (std::size_t other = 0; other < slots; other++)
        if (state_[other] == granted)
            all |= std::uint64_t{1} << other;
    wake(all);
}

} // namespace stgm
