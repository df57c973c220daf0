// SPDX-License-Identifier: MIT OR GPL-2.0
// The end of a lease whose output nobody reads.
#include "control/lease_time.hpp"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

using nvdebugctl::LeaseTime;
using namespace std::chrono_literals;

namespace {

/// Fills a pipe that nobody reads, as stdout of a tool before `| less` does.
void write_until_it_blocks(int &reader) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    reader = ends[0];
    for (const char byte = 'x';;)
        static_cast<void>(!write(ends[1], &byte, 1));
}

TEST(LeaseTime, EndsWithASentenceWhileOutputBlocks) {
    const auto hold = [] {
        int reader = 0;
        const LeaseTime time(50ms);
        write_until_it_blocks(reader);
    };
    EXPECT_EXIT(hold(), testing::ExitedWithCode(5),
                "nvdebugctl: the time of the lease is up, .* it is undone");
}

TEST(LeaseTime, EndsInTimeWhenStderrBlocksToo) {
    const auto hold = [] {
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        fcntl(ends[1], F_SETFL, O_NONBLOCK);
        for (const char byte = 'x'; write(ends[1], &byte, 1) == 1;)
            continue;
        fcntl(ends[1], F_SETFL, 0);
        dup2(ends[1], STDERR_FILENO);
        const LeaseTime time(50ms);
        for (;;)
            pause();
    };
    EXPECT_EXIT(hold(), testing::ExitedWithCode(5), "");
}

} // namespace
