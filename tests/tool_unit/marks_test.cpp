// SPDX-License-Identifier: MIT OR GPL-2.0
#include "marks.hpp"

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

TEST(Marks, NobodyHearsAreNoTrouble) {
    tell_recorders("gpu77", "nobody listens");
}

} // namespace
} // namespace nvdebugctl
