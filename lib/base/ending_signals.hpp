// SPDX-License-Identifier: MIT OR GPL-2.0
// The signals by which a user, a terminal or a service manager ends a program.
#pragma once

#include <csignal>
#include <initializer_list>

namespace nvdebug::base {

/// Returns SIGINT, SIGTERM, SIGHUP and @p more, which the program blocks and then waits for.
/// Signals that this process ignores (SIGHUP under nohup) are left out: a blocked signal stays
/// pending even if it is ignored, so the program would end by it after all.
[[nodiscard]] inline sigset_t ending_signals(std::initializer_list<int> more = {}) {
    sigset_t set;
    sigemptyset(&set);
    const auto add = [&](std::initializer_list<int> numbers) {
        for (const int number : numbers) {
            struct sigaction action {};
            if (sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
                sigaddset(&set, number);
        }
    };
    add({SIGINT, SIGTERM, SIGHUP});
    add(more);
    return set;
}

} // namespace nvdebug::base
