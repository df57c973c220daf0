// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Waits for a change of any of several words, also in memory that processes share.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <utility>

namespace nvqos {

/// A word, and the value that it had.
using Awaited = std::pair<const std::atomic<std::uint32_t> *, std::uint32_t>;

/// Returns when a word has another value, at the latest after @p longest. A kernel before 5.16 can
/// wait for one word alone; there it returns after a millisecond at the latest.
void wait_for_change(std::span<const Awaited> words, std::chrono::microseconds longest);
/// Wakes the threads of this process that wait for a change of the word.
void wake(const std::atomic<std::uint32_t> &word);

} // namespace nvqos
