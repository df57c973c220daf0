// SPDX-License-Identifier: MIT OR GPL-2.0
#include <gtest/gtest.h>

#include "lib/base/ending_signals.hpp"

namespace {

TEST(EndingSignals, LeaveOutIgnoredSignals) {
    const auto before = std::signal(SIGHUP, SIG_IGN);
    const sigset_t ignored = nvdebug::base::ending_signals();
    std::signal(SIGHUP, SIG_DFL);
    const sigset_t all = nvdebug::base::ending_signals({SIGQUIT});
    std::signal(SIGHUP, before);
    EXPECT_EQ(sigismember(&ignored, SIGHUP), 0);
    for (const int number : {SIGINT, SIGTERM}) {
        EXPECT_EQ(sigismember(&ignored, number), 1) << number;
        EXPECT_EQ(sigismember(&all, number), 1) << number;
    }
    EXPECT_EQ(sigismember(&all, SIGHUP), 1);
    EXPECT_EQ(sigismember(&all, SIGQUIT), 1);
    EXPECT_EQ(sigismember(&ignored, SIGQUIT), 0);
    EXPECT_EQ(sigismember(&all, SIGCHLD), 0);
}

} // namespace
