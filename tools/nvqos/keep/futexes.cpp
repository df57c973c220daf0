// SPDX-License-Identifier: MIT OR GPL-2.0
#include "futexes.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace nvqos {
namespace {

/// struct futex_waitv, FUTEX_32 and the number of the call on all architectures (Linux 5.16,
/// include/uapi/linux/futex.h), which older headers lack.
struct Waiter {
    std::uint64_t value, address;
    std::uint32_t flags, reserved;
};
constexpr std::uint32_t of_32_bits = 2;
constexpr long futex_waitv_number = 449;
/// The kernel takes so many words at once (FUTEX_WAITV_MAX).
constexpr std::size_t words_max = 128;

} // namespace

void wait_for_change(std::span<const Awaited> words, std::chrono::microseconds longest) {
    constexpr std::chrono::microseconds apart{1000};
    std::array<Waiter, words_max> waiters;
    const std::size_t count = std::min(words.size(), waiters.size());
    for (std::size_t n = 0; n < count; n++)
        waiters[n] = {words[n].second, reinterpret_cast<std::uintptr_t>(words[n].first), of_32_bits,
                      0};
    if (count < words.size())
        longest = std::min(longest, apart);
    timespec until{};
    clock_gettime(CLOCK_MONOTONIC, &until);
    const auto ns = until.tv_nsec + std::chrono::nanoseconds(longest).count();
    constexpr long second = 1'000'000'000;
    until = {until.tv_sec + ns / second, ns % second};
    if (syscall(futex_waitv_number, waiters.data(), count, 0, &until, CLOCK_MONOTONIC) >= 0 ||
        (errno != ENOSYS && errno != EPERM))
        return;
    const auto left = std::min(longest, apart);
    const timespec pause{0, std::chrono::nanoseconds(left).count()};
    nanosleep(&pause, nullptr);
}

void wake(const std::atomic<std::uint32_t> &word) {
    syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

} // namespace nvqos
