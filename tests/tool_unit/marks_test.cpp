// SPDX-License-Identifier: MIT OR GPL-2.0
#include "control/marks.hpp"

#include <csignal>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nvdebugctl {
namespace {

TEST(Marks, AreHeardOnce) {
    const auto mine = [](std::vector<Ear::Heard> all) {
        std::erase_if(all, [](const Ear::Heard &one) { return one.gpu != "gpu77"; });
        return all;
    };
    Ear ear;
    ASSERT_GE(ear.descriptor(), 0);
    EXPECT_TRUE(mine(ear.take()).empty());
    const pid_t child = fork();
    if (child == 0) {
        tell_recorders("gpu77", "task_timeslice 4711 500us");
        _exit(0);
    }
    waitpid(child, nullptr, 0);
    const auto heard = mine(ear.take());
    ASSERT_EQ(heard.size(), 1U);
    EXPECT_EQ(heard[0].text, "task_timeslice 4711 500us");
    EXPECT_EQ(heard[0].pid, static_cast<std::uint32_t>(child)) << "the kernel says who it was";
    EXPECT_GT(heard[0].monotonic_ns, 0U);
    EXPECT_TRUE(mine(ear.take()).empty());
    tell_recorders("gpu77", "");
    EXPECT_TRUE(mine(ear.take()).empty()) << "that is no mark";
}

TEST(Marks, AreTakenInPartsAndTheirLossIsSaid) {
    Ear ear;
    std::size_t missed = 0, sent = 0;
    // There is no reader meanwhile: the kernel keeps a few.
    while (missed == 0 && sent < 10'000) {
        missed = tell_recorders("gpu77", "many");
        sent++;
    }
    ASSERT_GT(missed, 0U) << sent;
    EXPECT_NE(not_told(missed).find("no mark"), std::string::npos);
    std::size_t heard = 0;
    for (std::vector<Ear::Heard> some; !(some = ear.take()).empty(); heard += some.size())
        EXPECT_LE(some.size(), Ear::most_at_once);
    EXPECT_GE(heard + 1, sent);
}

TEST(Marks, OfOthersAreCountedAndEndNoCall) {
    if (geteuid() != 0)
        GTEST_SKIP() << "takes another user";
    Ear ear;
    const pid_t child = fork();
    if (child == 0) {
        if (setuid(65534) == 0)
            for (;;)
                tell_recorders("gpu77", "mine");
        _exit(1);
    }
    while (ear.refused() == 0)
        EXPECT_TRUE(ear.take().empty()) << "and each call comes back";
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
}

TEST(Marks, NobodyHearsAreNoTrouble) {
    tell_recorders("gpu77", "nobody listens");
}

} // namespace
} // namespace nvdebugctl
