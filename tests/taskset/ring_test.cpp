// SPDX-License-Identifier: MIT OR GPL-2.0
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tools/nvtaskset/inject/ring.hpp"

namespace {

using nvtaskset::Ring;

TEST(Ring, ReturnsRecordsInTheirOrderAndRefusesMoreThanFit) {
    Ring<int, 4> ring;
    int record = 0;
    EXPECT_FALSE(ring.take(record));
    for (int round = 0; round < 3; round++) {
        for (int n = 0; n < 4; n++)
            EXPECT_TRUE(ring.put(10 * round + n));
        EXPECT_FALSE(ring.put(99));
        for (int n = 0; n < 4; n++) {
            ASSERT_TRUE(ring.take(record));
            EXPECT_EQ(record, 10 * round + n);
        }
        EXPECT_FALSE(ring.take(record));
    }
}

TEST(Ring, LosesAndRepeatsNothingOfThreadsThatPutAtTheSameTime) {
    struct Record {
        std::uint32_t thread, number, check;
    };
    constexpr std::uint32_t threads = 4, each = 5'000;
    Ring<Record, 64> ring;
    std::vector<std::thread> all;
    for (std::uint32_t thread = 0; thread < threads; thread++)
        all.emplace_back([&ring, thread] {
            for (std::uint32_t number = 0; number < each; number++)
                while (!ring.put({thread, number, thread ^ number}))
                    std::this_thread::yield();
        });
    std::vector<std::uint32_t> next(threads);
    for (std::uint32_t taken = 0; taken < threads * each;) {
        Record record{};
        if (!ring.take(record)) {
            std::this_thread::yield();
            continue;
        }
        taken++;
        ASSERT_EQ(record.check, record.thread ^ record.number);
        ASSERT_EQ(record.number, next.at(record.thread)++);
    }
    for (std::thread &thread : all)
        thread.join();
    Record record{};
    EXPECT_FALSE(ring.take(record));
}

} // namespace
