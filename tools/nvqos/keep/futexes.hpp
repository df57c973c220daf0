// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Waiting for a change of any of several words, also of memory that processes share.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <utility>

namespace nvqos {

/// A word, and the value that it had.
using Awaited = std::pair<const std::atomic<std::uint32_t> *, std::uint32_t>;

/// Returns when one has another value, and at the latest after @p longest; on a kernel before 5.16,
/// which can wait for one word alone, after a millisecond.
void wait_for_change(std::span<const Awaited> words, std::chrono::microseconds longest);
/// Wakes the threads of this process that wait for it.
void wake(const std::atomic<std::uint32_t> &word);

} // namespace nvqos
