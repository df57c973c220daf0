// SPDX-License-Identifier: MIT OR GPL-2.0
// Tasks come and go while nvqos keeps goals: how they are searched for, and which turns count.
#include "kept.hpp"

#include <atomic>
#include <future>
#include <numeric>

namespace served {
namespace {

using driver_test::comes_true;
using qos::ms;
using qos::us;

/// A search takes as long as the driver does. Goals begin after it, so turns during it do not
/// count.
TEST_F(Kept, GoalsBeginWhenTheTasksAreFound) {
    sim.set_bursts(0, simulated::always());
    sim.set_bursts(1, simulated::always());
    kernel.before_list = [this] { run_until(sim.now() + 300 * ms); };
    start({"557=share:5%"});
    kernel.before_list = nullptr;
    ASSERT_TRUE(gpu_goals);
    ASSERT_GT(sim.used(0), 100 * ms) << "half of the GPU";
    const Ns began = sim.now(), used = sim.used(0);
    const auto first_step = gpu_goals->step();
    ASSERT_TRUE(first_step);
    EXPECT_FALSE(*first_step) << "no epoch has passed";
    keep_until(began + 250 * ms);
    ASSERT_FALSE(reports.empty());
    EXPECT_GE(reports[0].epoch.begin, begin + began - 1 * ms);
    EXPECT_LE(reports[0].tenants[0].record.seen.used, 10 * ms);
    EXPECT_NEAR(points(0, began, used), 5, 2) << "nothing is paid back";
}

/// A search finds that a task has ended before its last turns were read.
TEST_F(Kept, TurnsOfTasksThatHaveEndedAreTheirs) {
    sim.set_bursts(0, simulated::always());
    sim.set_bursts(1, simulated::always());
    start({"command:one=share:80%"}, {.longest_unlooked = 100 * ms});
    ASSERT_TRUE(gpu_goals);
    while (reports.size() < 10)
        keep_until(sim.now() + 100 * us);
    run_until(sim.now() + 8 * ms);
    sim.stop(0);
    run_until(sim.now() + 1 * ms);
    kernel.end_process(557);
    keep_until(sim.now() + 2 * qos::second);
    EXPECT_EQ(reports.back().tenants[0].tasks, 0U);
    const Ns seen = std::accumulate(reports.begin(), reports.end(), Ns{0},
                                    [](Ns sum, const nvqos::Report &report) {
                                        return sum + report.tenants[0].record.seen.used;
                                    });
    EXPECT_NEAR(static_cast<double>(seen), static_cast<double>(sim.used(0)), 1.0 * ms);
}

/// The driver does not answer searches, which other threads make, until a test lets it.
class Hanging : public Kept {
  protected:
    Hanging() {
        kernel.before_ioctl = [this, until = answers.get_future().share(),
                               own = std::this_thread::get_id()] {
            if (hangs && std::this_thread::get_id() != own)
                until.wait();
        };
    }
    ~Hanging() override { kernel.before_ioctl = nullptr; }

    std::atomic<bool> hangs = false;
    std::promise<void> answers;
};

TEST_F(Hanging, GoalsAreKeptDuringASearch) {
    sim.set_bursts(0, simulated::always());
    sim.set_bursts(1, simulated::always());
    start({"557=cap:30%"}, {}, std::launch::async);
    ASSERT_TRUE(gpu_goals);
    keep_until(500 * ms);
    hangs = true;
    add_third(600, simulated::always());
    const std::size_t before = reports.size();
    keep_until(3 * qos::second);
    EXPECT_LE(most_of_a_second(0), 310 * ms);
    EXPECT_GE(reports.size() - before, 23U) << "an epoch each 100 ms";
    EXPECT_EQ(reports.back().tenants[1].tasks, 2U) << "its switches are seen";
    EXPECT_EQ(reports.back().tenants[1].held, 1U);
    hangs = false;
    answers.set_value();
    EXPECT_TRUE(comes_true([&] {
        keep_until(sim.now() + 100 * ms);
        return reports.back().tenants[1].held == 2;
    }));
    gpu_goals.reset();
    EXPECT_EQ(enabled(), all_on);
}

TEST_F(Hanging, TheEndDoesNotWaitToRestore) {
    const auto before = timeslices_us();
    sim.set_bursts(0, simulated::always());
    sim.set_bursts(1, simulated::always());
    start({"557=share:30%,cap:30%"}, {}, std::launch::async);
    ASSERT_TRUE(gpu_goals);
    keep_until(500 * ms);
    hangs = true;
    add_third(600, simulated::always());
    keep_until(sim.now() + 300 * ms);
    EXPECT_NE(timeslices_us(), before);
    gpu_goals->let_go();
    EXPECT_EQ(timeslices_us(), before);
    EXPECT_EQ(enabled(), all_on);
    answers.set_value();
    gpu_goals.reset();
}

/// Pauses come late because the driver answers late.
TEST_F(Kept, CapHoldsWhilePausesComeLate) {
    sim.set_bursts(0, simulated::always());
    start({"557=cap:30%"});
    ASSERT_TRUE(gpu_goals);
    keep_until(2 * qos::second);
    EXPECT_LE(most_of_a_second(0), 303 * ms);
    // The first late pause cannot be foreseen.
    keep_until(4 * qos::second, 15 * ms);
    EXPECT_LE(most_of_a_second(2 * qos::second), 320 * ms);
    const Ns used = sim.used(0), since = sim.now();
    keep_until(since + 4 * qos::second, 15 * ms);
    EXPECT_LE(most_of_a_second(since), 303 * ms);
    EXPECT_GE(points(0, since, used), 27);
    // When the driver answers at once again, the task uses its cap again.
    keep_until(sim.now() + 8 * qos::second);
    const Ns later = sim.used(0), from = sim.now();
    keep_until(from + 3 * qos::second);
    EXPECT_GE(points(0, from, later), 29);
}

/// Late pauses take longer than the cap leaves of a second. The task still runs afterwards.
TEST_F(Kept, SmallCapRunsAfterLatePauses) {
    sim.set_bursts(0, simulated::always());
    start({"557=cap:2%"});
    ASSERT_TRUE(gpu_goals);
    keep_until(4 * qos::second, 40 * ms);
    const Ns used = sim.used(0), since = sim.now();
    keep_until(since + 4 * qos::second);
    EXPECT_GE(points(0, since, used), 1);
    EXPECT_LE(points(0, since, used), 2.2);
}

/// One of a tenant's two tasks ends, and the other one has all of the share at once.
TEST_F(Hanging, EndOfATaskIsSeenDuringASearch) {
    sim.set_bursts(0, simulated::always());
    sim.set_bursts(1, simulated::always());
    add_third(600, simulated::always());
    kernel.processes[558].command = kernel.processes[600].command = "two";
    start({"command:two=share:60%"}, {}, std::launch::async);
    ASSERT_TRUE(gpu_goals);
    keep_until(qos::second);
    ASSERT_NEAR(points(1, 0, 0), 30, 2);
    hangs = true;
    kernel.end_process(600);
    sim.stop(2);
    keep_until(sim.now() + 200 * ms);
    const Ns since = sim.now(), used = sim.used(1);
    keep_until(since + 300 * ms);
    EXPECT_GE(points(1, since, used), 58);
    answers.set_value();
    gpu_goals.reset();
}

/// The killed keeper's task is restored by another process, which ends a pause.
TEST_F(Hanging, UseIsSeenAfterAKeeperWasKilled) {
    sim.set_bursts(0, simulated::always());
    sim.set_bursts(1, simulated::always());
    start({"557=cap:30%"}, {}, std::launch::async);
    ASSERT_TRUE(gpu_goals);
    keep_until(qos::second);
    for (const Ns end = sim.now() + 100 * ms; enabled() == all_on && sim.now() < end;)
        keep_until(sim.now() + 1 * ms);
    ASSERT_NE(enabled(), all_on);
    const std::size_t before = reports.size();
    const Ns used = sim.used(0);
    kill_keepers();
    ASSERT_TRUE(comes_true([&] { return keepers().empty(); }));
    hangs = true;
    keep_until(sim.now() + 500 * ms);
    EXPECT_EQ(enabled(), all_on);
    const Ns seen = std::accumulate(reports.begin() + static_cast<std::ptrdiff_t>(before),
                                    reports.end(), Ns{0}, [](Ns sum, const nvqos::Report &report) {
                                        return sum + report.tenants[0].record.seen.used;
                                    });
    EXPECT_NEAR(static_cast<double>(seen), static_cast<double>(sim.used(0) - used), 60.0 * ms)
        << "an epoch goes on";
    answers.set_value();
    gpu_goals.reset();
}

/// Tasks and contexts come during a search, which does not find them. The record shows their
/// switches.
class Meanwhile : public Kept {
  protected:
    /// Keeps a goal of 557. A search begins when 558 has the GPU for the first time.
    /// @param meanwhile is called during that search
    void search(std::function<void()> meanwhile) {
        sim.set_bursts(0, simulated::always());
        start({"557=share:40%"});
        ASSERT_TRUE(gpu_goals);
        keep_until(500 * ms);
        sim.set_bursts(1, simulated::always());
        bool came = false;
        kernel.before_question = [&] {
            if (std::exchange(came, true))
                return;
            meanwhile();
            run_until(sim.now() + 30 * ms);
        };
        while (!came && sim.now() < qos::second)
            keep_until(sim.now() + 10 * ms);
        kernel.before_question = nullptr;
        ASSERT_TRUE(came);
    }
    /// Returns whether the first context had its own timeslice after the first @p since changes.
    bool was_restored(std::size_t since) const {
        const auto all = kernel.changes();
        return std::any_of(all.begin() + static_cast<std::ptrdiff_t>(since), all.end(),
                           [&](const driver_test::StandIn::Change &change) {
                               return change.client == first && change.value == 2000;
                           });
    }
};

TEST_F(Meanwhile, NewcomerIsSearchedFor) {
    search([&] { add_third(600, simulated::always()); });
    keep_until(sim.now() + 400 * ms);
    EXPECT_EQ(reports.back().tenants[1].held, 2U);
    gpu_goals.reset();
    EXPECT_EQ(enabled(), all_on);
}

/// The new context is held as well, and the hold of the first context stays.
TEST_F(Meanwhile, AnotherContextIsHeldAsWell) {
    const auto before = timeslices_us();
    search([&] { add_context(557); });
    const std::size_t asked_before = kernel.changes().size();
    keep_until(sim.now() + 400 * ms);
    EXPECT_EQ(reports.back().tenants[0].tsgs, 2);
    EXPECT_FALSE(was_restored(asked_before));
    EXPECT_NEAR(static_cast<double>(timeslices_us()[0]), static_cast<double>(timeslices_us()[2]),
                10.0);
    gpu_goals.reset();
    EXPECT_EQ(timeslices_us()[0], before[0]);
    EXPECT_EQ(timeslices_us()[2], 1998U);
}

TEST_F(Meanwhile, AContextThatEndsLeavesTheOtherHeld) {
    std::uint32_t more = 0;
    search([&] { more = add_context(557); });
    keep_until(sim.now() + 400 * ms);
    ASSERT_EQ(reports.back().tenants[0].tsgs, 2);
    const std::size_t asked_before = kernel.changes().size();
    kernel.others.erase(more);
    kernel.processes[557].clients.erase(more);
    sim.set_bursts(2, nullptr);
    add_third(600, nullptr);
    // The third process' first switch begins a search.
    sim.set_bursts(3, simulated::once(100 * us));
    keep_until(sim.now() + 500 * ms);
    EXPECT_EQ(reports.back().tenants[0].tsgs, 1);
    EXPECT_FALSE(was_restored(asked_before));
}

TEST_F(Meanwhile, AnotherContextIsSearchedFor) {
    search([&] {
        sim.add(simulated::always());
        pid_of.push_back(557);
    });
    const std::uint64_t before = kernel.questions;
    keep_until(sim.now() + 300 * ms);
    EXPECT_GT(kernel.questions, before);
}

} // namespace
} // namespace served
