// SPDX-License-Identifier: MIT OR GPL-2.0
// A partition is many words: who reads it while it is written has all of the one or of the other.
#include "taskset/page.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include <unistd.h>

namespace nvtaskset {
namespace {

Partition filled(std::uint32_t value) {
    Partition partition;
    partition.uuid = {7};
    partition.disabled.fill(value);
    partition.exists.fill(value);
    partition.sms = partition.largest_gpc = value;
    return partition;
}

TEST(Page, PartitionsAreReadWhole) {
    const auto page = Page::make();
    ASSERT_TRUE(page);
    const Partition one = filled(1), other = filled(2);
    ASSERT_TRUE(page->set(one));
    const Slot *const slot = page->find(one.uuid);
    ASSERT_TRUE(slot);
    std::atomic<bool> over = false;
    std::thread writer([&] {
        for (int i = 0; !over; i++)
            page->set(i % 2 ? one : other);
    });
    unsigned ones = 0, others = 0, torn = 0;
    // Until both were seen, and often: the writer may not have begun.
    for (unsigned look = 0; look < 200'000 || !ones || !others; look++)
        if (const auto seen = read_partition(*slot)) {
            ones += *seen == one;
            others += *seen == other;
            torn += *seen != one && *seen != other;
        }
    over = true;
    writer.join();
    EXPECT_EQ(torn, 0u);
    close(page->descriptor());
}

TEST(Page, WhatIsNoPageIsNotOpened) {
    const auto page = Page::make();
    ASSERT_TRUE(page);
    EXPECT_TRUE(Page::open(page->descriptor()));
    page->state().magic++;
    EXPECT_FALSE(Page::open(page->descriptor()));
    EXPECT_FALSE(Page::open(STDIN_FILENO));
    EXPECT_FALSE(Page::open(-1));
    close(page->descriptor());
}

} // namespace
} // namespace nvtaskset
