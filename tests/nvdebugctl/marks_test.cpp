// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lib/base/marks.hpp"

#include "tests/support/own_machine.hpp"

#include <csignal>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nvdebug::base {
namespace {

TEST(Marks, AreHeardOnce) {
    const auto mine = [](std::vector<ReceivedMark> all) {
        std::erase_if(all, [](const ReceivedMark &one) { return one.gpu != "gpu77"; });
        return all;
    };
    MarkSocket marks;
    ASSERT_GE(marks.descriptor(), 0);
    EXPECT_TRUE(mine(marks.take()).empty());
    const pid_t child = fork();
    if (child == 0) {
        notify_recorders("gpu77", "task_timeslice 4711 500us");
        _exit(0);
    }
    waitpid(child, nullptr, 0);
    const auto received = mine(marks.take());
    ASSERT_EQ(received.size(), 1U);
    EXPECT_EQ(received[0].text, "task_timeslice 4711 500us");
    EXPECT_EQ(received[0].pid, static_cast<std::uint32_t>(child)) << "the kernel says who it was";
    EXPECT_GT(received[0].monotonic_ns, 0U);
    EXPECT_TRUE(mine(marks.take()).empty());
    notify_recorders("gpu77", "");
    EXPECT_TRUE(mine(marks.take()).empty()) << "that is no mark";
}

TEST(Marks, AreTakenInPartsAndLossIsReported) {
    MarkSocket marks;
    std::size_t missed = 0, sent = 0;
    // Nobody reads during this loop, and the kernel keeps only a few datagrams.
    while (missed == 0 && sent < 10'000) {
        missed = notify_recorders("gpu77", "many");
        sent++;
    }
    ASSERT_GT(missed, 0U) << sent;
    EXPECT_NE(missed_mark_sentence(missed).find("no mark"), std::string::npos);
    std::size_t received = 0;
    for (std::vector<ReceivedMark> some; !(some = marks.take()).empty(); received += some.size())
        EXPECT_LE(some.size(), MarkSocket::most_at_once);
    EXPECT_GE(received + 1, sent);
}

TEST(Marks, RefuseAndCountMarksOfOtherUsers) {
    if (geteuid() != 0)
        GTEST_SKIP() << "takes another user";
    MarkSocket marks;
    const pid_t child = fork();
    if (child == 0) {
        if (setuid(65534) == 0)
            for (;;)
                notify_recorders("gpu77", "mine");
        _exit(1);
    }
    while (marks.refused() == 0)
        EXPECT_TRUE(marks.take().empty()) << "and each call comes back";
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
}

TEST(Marks, SendWithoutRecordersIsNoError) {
    notify_recorders("gpu77", "nobody listens");
}

} // namespace
} // namespace nvdebug::base
