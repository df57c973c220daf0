// SPDX-License-Identifier: MIT OR GPL-2.0
// The page of a task: partitions, of which readers get the old or the new one but no mixture, and
// limits.
#include "lib/partition/gate.hpp"
#include "lib/partition/page.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
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
    // Reads until both partitions were seen, as the writer may begin late.
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

TEST(Page, OpenRefusesOtherDescriptors) {
    const auto page = Page::make();
    ASSERT_TRUE(page);
    for (const Access access : {Access::look, Access::change, Access::join})
        EXPECT_TRUE(Page::open(page->descriptor(), access));
    page->writable()->magic++;
    EXPECT_FALSE(Page::open(page->descriptor(), Access::look));
    EXPECT_FALSE(Page::open(STDIN_FILENO, Access::look));
    EXPECT_FALSE(Page::open(-1, Access::look));
    close(page->descriptor());
}

TEST(Page, LookingMapsThePageReadOnly) {
    const auto page = Page::make();
    ASSERT_TRUE(page);
    const auto look = Page::of_process(getpid(), page->descriptor(), Access::look);
    ASSERT_TRUE(look);
    EXPECT_EQ(look->inode(), page->inode());
    EXPECT_EQ(look->writable(), nullptr);
    EXPECT_FALSE(look->set(filled(1)));
    EXPECT_FALSE(look->clear(filled(1).uuid));
    EXPECT_DEATH(const_cast<State &>(look->state()).generation++, "");
    const auto other = Page::of_process(getpid(), page->descriptor(), Access::change);
    ASSERT_TRUE(other);
    EXPECT_TRUE(other->set(filled(1)));
    EXPECT_EQ(read_partition(*look->find(filled(1).uuid)), filled(1));
    close(page->descriptor());
}

TEST(Page, KilledWriterLeavesThePartition) {
    const auto page = Page::make();
    ASSERT_TRUE(page);
    ASSERT_TRUE(page->set(filled(1)));
    for (Slot &slot : page->writable()->slots)
        slot.settings[(slot.sequence + 1) % 2] = {Use::partition, filled(9)};
    const Slot *const slot = page->find(filled(1).uuid);
    ASSERT_TRUE(slot);
    EXPECT_EQ(read_partition(*slot), filled(1));
    ASSERT_TRUE(page->set(filled(2)));
    EXPECT_EQ(read_partition(*slot), filled(2));
    page->clear(filled(1).uuid);
    EXPECT_EQ(read_setting(*slot)->use, Use::whole);
    close(page->descriptor());
}

TEST(Page, SlotsStayWithTheirGpus) {
    const auto page = Page::make();
    ASSERT_TRUE(page);
    for (std::uint8_t gpu = 0; gpu < State::slots_max; gpu++)
        EXPECT_TRUE(page->take({gpu})) << int{gpu};
    EXPECT_EQ(page->take({99}), nullptr);
    EXPECT_EQ(page->take({3}), page->find({3}));
    EXPECT_FALSE(has_partition(page->state()));
    close(page->descriptor());
}

TEST(Page, LeaseLimitsUntilItsTime) {
    const auto page = Page::make();
    ASSERT_TRUE(page);
    EXPECT_EQ(page->find_gate({7}), nullptr);
    ASSERT_TRUE(page->limit({7}, 0));
    const Gate &gate = *page->find_gate({7});
    EXPECT_EQ(&gate, &page->state().gates[page->find({7}) - page->state().slots]);
    EXPECT_EQ(in_flight_limit(gate, 1000), 0u);
    ASSERT_TRUE(page->lease_limit({7}, in_flight_max, 2000));
    EXPECT_EQ(in_flight_limit(gate, 1999), in_flight_max);
    EXPECT_EQ(in_flight_limit(gate, 2000), 0u);
    EXPECT_TRUE(page->limit({7}, 4));
    EXPECT_EQ(in_flight_limit(gate, 1999), 4u);
    EXPECT_TRUE(page->lease_limit({7}, 3, 2000));
    EXPECT_EQ(in_flight_limit(gate, 1999), 3u);
    EXPECT_EQ(in_flight_limit(gate, 2000), 4u);
    // A lease by another clock, as in a time namespace, would never end.
    EXPECT_TRUE(page->lease_limit({7}, 3, 2000 + lease_max_us));
    EXPECT_EQ(in_flight_limit(gate, 1999), 4u);
    EXPECT_TRUE(page->lease_limit({7}, 0, 2000));
    EXPECT_EQ(gate.lease, 0u);
    EXPECT_TRUE(page->state().has_limits);
    const auto look = Page::of_process(getpid(), page->descriptor(), Access::look);
    ASSERT_TRUE(look);
    EXPECT_FALSE(look->limit({7}, 1));
    EXPECT_FALSE(look->lease_limit({7}, 1, 2000));
    close(page->descriptor());
}

/** All or some standard streams are closed, and the page does not take their numbers. */
TEST(Page, DescriptorIsNeverAStandardStream) {
    for (const int closed : {0, 1, 2, 3}) {
        const pid_t child = fork();
        if (!child) {
            for (int stream = 0; stream < 3; stream++)
                if (stream != closed)
                    close(stream);
            const auto page = Page::make();
            if (!page || page->descriptor() < 3)
                _exit(1);
            const auto joined = Page::of_process(getpid(), page->descriptor(), Access::join);
            const int flags = fcntl(joined ? joined->descriptor() : -1, F_GETFL);
            _exit(!joined || joined->descriptor() < 3 || flags < 0 || flags & only_looks);
        }
        int status = -1;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0) << closed;
    }
}

TEST(Page, FewDescriptorsSuffice) {
    const pid_t child = fork();
    if (!child) {
        const rlimit limit{8, 8};
        setrlimit(RLIMIT_NOFILE, &limit);
        closefrom(3);
        const auto page = Page::make();
        _exit(!page || page->descriptor() < 3);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

} // namespace
} // namespace nvtaskset
