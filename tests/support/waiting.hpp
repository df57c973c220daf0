// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Waits for what another process or thread does.
#pragma once

#include <chrono>
#include <thread>

namespace driver_test {

/// The time is long enough for any machine. A test that passes does not wait so long.
inline constexpr std::chrono::seconds plenty{60};

/// Returns true as soon as the condition holds, and false if it never does.
template <typename Condition>
bool comes_true(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + plenty;
    while (!condition()) {
        if (std::chrono::steady_clock::now() >= end)
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

} // namespace driver_test
