// SPDX-License-Identifier: MIT OR GPL-2.0
// Holds tasks through the stand-in for NVIDIA's driver. The helper is really forked.
#include "steering.hpp"

#include <csignal>
#include <sys/wait.h>

namespace driver_test {
namespace {

using nvdebug::ErrorCode;
using nvdebug::TaskHold;
using nvdebug::TaskState;
using std::chrono::milliseconds;

class Holding : public Steering {
  protected:
    std::size_t asked() const { return kernel.changes().size(); }
};

TEST_F(Holding, ChangesAgainAndAgainAndPutsItBack) {
    const auto before = timeslices_us();
    auto held = hold({557});
    EXPECT_EQ(held->tsgs(), 1U);
    EXPECT_EQ(held->channels().size(), 2U);
    put(*held, {.timeslice_ns = 30'000});
    EXPECT_EQ(timeslices_us()[0], 29U) << "in steps of 1,024 ns; no limit but the driver's";
    put(*held, {.timeslice_ns = 512'000, .paused = true});
    EXPECT_EQ(timeslices_us()[0], 512U);
    EXPECT_EQ(enabled(), (std::vector<bool>{false, false, true, true, true, true}));
    put(*held, {.timeslice_ns = 512'000});
    EXPECT_EQ(enabled(), all_on);
    put(*held, {});
    EXPECT_EQ(timeslices_us(), before);
    put(*held, {.timeslice_ns = 700'000, .paused = true});
    held.reset();
    EXPECT_EQ(timeslices_us(), before);
    EXPECT_EQ(enabled(), all_on);
}

TEST_F(Holding, DoesNotSetAnUnchangedTimesliceAgain) {
    auto held = hold({557});
    put(*held, {.timeslice_ns = 512'000});
    const std::size_t before = asked();
    for (int n = 0; n < 5; n++)
        put(*held, {.timeslice_ns = 512'000});
    EXPECT_EQ(asked(), before);
}

/// The driver would count a pause that is asked for again, and the resume would not end it.
TEST_F(Holding, AsksForAPauseOnce) {
    auto held = hold({557});
    put(*held, {.paused = true});
    put(*held, {.timeslice_ns = 512'000, .paused = true});
    put(*held, {.paused = true});
    EXPECT_EQ(enabled(), (std::vector<bool>{false, false, true, true, true, true}));
    put(*held, {});
    EXPECT_EQ(enabled(), all_on);
    put(*held, {.paused = true});
    put(*held, {.timeslice_ns = 700'000, .paused = true});
    held.reset();
    EXPECT_EQ(enabled(), all_on);
}

TEST_F(Holding, PausesATaskAgainThatAnotherProgramHasResumed) {
    auto held = hold({557});
    put(*held, {.paused = true});
    ASSERT_TRUE(gpu.perform(nvdebug::resume_tasks(std::vector<std::uint32_t>{557})));
    ASSERT_EQ(enabled(), all_on);
    put(*held, {});
    EXPECT_EQ(enabled(), all_on);
    put(*held, {.paused = true});
    EXPECT_EQ(enabled(), (std::vector<bool>{false, false, true, true, true, true}));
    put(*held, {});
    EXPECT_EQ(enabled(), all_on);
}

/// A pause of another program begins before the hold's pause ends, and lasts on after it.
TEST_F(Holding, LeavesAnotherProgramsPause) {
    const std::vector<bool> paused = {false, false, true, true, true, true};
    auto held = hold({557});
    put(*held, {.paused = true});
    ASSERT_TRUE(gpu.perform(pause({557})));
    held.reset();
    EXPECT_EQ(enabled(), paused);
    ASSERT_TRUE(gpu.perform(nvdebug::resume_tasks(std::vector<std::uint32_t>{557})));
    EXPECT_EQ(enabled(), all_on);
}

/// Two programs have paused the task, so that the driver resumes it only with the second request.
TEST_F(Holding, AResumeEndsThePausesOfAllPrograms) {
    auto held = hold({557});
    put(*held, {.paused = true});
    ASSERT_TRUE(gpu.perform(pause({557})));
    ASSERT_TRUE(gpu.perform(nvdebug::resume_tasks(std::vector<std::uint32_t>{557})));
    EXPECT_EQ(enabled(), all_on);
    held.reset();
    EXPECT_EQ(enabled(), all_on);
}

/// CUDA sets the timeslice of its own TSG after the task was found.
TEST_F(Holding, RestoresATimesliceThatTheProcessHasSet) {
    auto held = hold({557});
    put(*held, {.timeslice_ns = 512'000});
    for (auto &[name, object] : kernel.others[first])
        if (object.object_class == rm::class_tsg)
            kernel.set_timeslice(first, name, 8000);
    put(*held, {.timeslice_ns = 512'000});
    EXPECT_EQ(timeslices_us()[0], 512U);
    held.reset();
    EXPECT_NEAR(static_cast<double>(timeslices_us()[0]), 8000, 80);
}

TEST_F(Holding, IsUndoneAfterThePatienceAndGoesOnAfterwards) {
#ifdef __SANITIZE_ADDRESS__
    constexpr milliseconds patience{3000}; // forking a keeper takes half a second
#else
    constexpr milliseconds patience{100};
#endif
    const auto before = timeslices_us();
    auto held = hold({557}, {.patience = patience});
    put(*held, {.timeslice_ns = 512'000, .paused = true});
    EXPECT_TRUE(comes_true([&] { return enabled() == all_on && timeslices_us() == before; }));
    // A program asks again after SIGCONT. On a loaded machine the hold may be undone before the
    // test looks, so it asks repeatedly.
    EXPECT_TRUE(comes_true([&] {
        put(*held, {.timeslice_ns = 512'000, .paused = true});
        return timeslices_us()[0] == 512U && enabled() != all_on;
    }));
}

/// Another process has the hold. It is killed, or stopped, while a task is paused.
class Ended : public Holding, public testing::WithParamInterface<int> {};

TEST_P(Ended, LeavesNothingChanged) {
    const auto before = timeslices_us();
    ASSERT_TRUE(gpu.owners()) << "whether the processes live is this one's to say";
    const pid_t holder = ::fork();
    if (holder == 0) {
        auto one = gpu.hold(std::vector<std::uint32_t>{557}, {.patience = milliseconds(100)});
        auto two = gpu.hold(std::vector<std::uint32_t>{558}, {.patience = milliseconds(100)});
        for (;;) {
            for (auto *held : {one->get(), two->get()})
                if (!held->ask({.timeslice_ns = 512'000, .paused = true}) || !held->finish())
                    ::_exit(1);
            ::usleep(10'000);
        }
    }
    ASSERT_TRUE(comes_true(
        [&] { return enabled() == std::vector<bool>{false, false, false, false, true, true}; }));
    ASSERT_EQ(::kill(holder, GetParam()), 0);
    EXPECT_TRUE(comes_true([&] { return enabled() == all_on && timeslices_us() == before; }));
    ::kill(holder, SIGKILL);
    ::waitpid(holder, nullptr, 0);
    EXPECT_EQ(enabled(), all_on);
}

INSTANTIATE_TEST_SUITE_P(Signals, Ended, testing::Values(SIGKILL, SIGSTOP, SIGTERM, SIGSEGV));

TEST_F(Holding, AProcessThatEndsIsLetGo) {
    auto held = hold({557});
    put(*held, {.timeslice_ns = 512'000, .paused = true});
    kernel.end_process(557);
    EXPECT_TRUE(comes_true([&] {
        const auto asked_for = held->ask({.timeslice_ns = 512'000, .paused = true});
        const auto done = held->finish();
        return asked_for && !done && done.error().code == ErrorCode::not_found;
    }));
    const auto changes = kernel.changes();
    EXPECT_TRUE(std::ranges::any_of(changes, [](const auto &change) {
        return change.command == StandIn::closed && change.by != ::getpid();
    }));
    held.reset();
}

TEST_F(Holding, AKeeperThatIsKilledLeavesNothingChanged) {
    const auto before = timeslices_us();
    auto held = hold({557});
    put(*held, {.timeslice_ns = 512'000, .paused = true});
    kill_keepers();
    const auto done = held->ask({.timeslice_ns = 600'000}).and_then([&] { return held->finish(); });
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::busy);
    EXPECT_EQ(enabled(), all_on);
    EXPECT_EQ(timeslices_us(), before);
}

/// Another program has set a timeslice while the keeper lived, which only the keeper has seen.
TEST_F(Holding, AKeeperThatIsKilledLeavesWhatAnotherProgramHasSet) {
    auto held = hold({557});
    put(*held, {.timeslice_ns = 512'000});
    for (auto &[name, object] : kernel.others[first])
        if (object.object_class == rm::class_tsg)
            kernel.set_timeslice(first, name, 8000);
    put(*held, {.timeslice_ns = 600'000});
    kill_keepers();
    const auto done = held->ask({.timeslice_ns = 700'000}).and_then([&] { return held->finish(); });
    ASSERT_FALSE(done);
    EXPECT_NEAR(static_cast<double>(timeslices_us()[0]), 8000, 80);
}

/// The driver refuses a call about a freed channel and another one together.
TEST_F(Holding, AChannelThatIsFreedDoesNotKeepTheOthersPaused) {
    auto held = hold({557});
    put(*held, {.paused = true});
    ASSERT_EQ(enabled(), (std::vector<bool>{false, false, true, true, true, true}));
    kernel.others[first].erase(held->channels()[0].channel);
    kill_keepers();
    EXPECT_FALSE(held->ask({}).and_then([&] { return held->finish(); }));
    EXPECT_EQ(enabled(), (std::vector<bool>{false, true, true, true, true, true}));
}

/// The list is refused at the freed channel, after the driver has disabled the first one.
TEST_F(Holding, AChannelBeforeAFreedOneIsDisabledOnce) {
    // The keeper inherits this function, and frees the channel for itself.
    kernel.refuses = [&](const rm::Control &asked) -> std::uint32_t {
        rm::DisableChannels list{};
        if (asked.command == rm::DisableChannels::command)
            std::memcpy(&list, reinterpret_cast<const void *>(asked.params), sizeof(list));
        if (list.count > 1)
            kernel.others[asked.client].erase(list.channels[1]);
        return rm::ok;
    };
    auto held = hold({557});
    put(*held, {.paused = true});
    EXPECT_EQ(enabled(), (std::vector<bool>{false, true, true, true, true, true}));
    kernel.refuses = nullptr;
    kill_keepers();
    // The channel exists in this process, so that this list enables each channel once.
    EXPECT_FALSE(held->ask({}).and_then([&] { return held->finish(); }));
    EXPECT_EQ(enabled(), all_on);
}

/// A pause applies to all processes or to none. The call for the second process is refused.
TEST_F(Holding, ARefusalIsReported) {
    kernel.refuse_change = 2;
    auto held = hold({557, 558});
    ASSERT_TRUE(held->ask({.paused = true}));
    const auto done = held->finish();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::unsupported);
    EXPECT_EQ(enabled(), all_on);
}

/// Each request gets its own answer, even after the driver refused an earlier request.
TEST_F(Holding, EachRequestHasItsOwnAnswer) {
    auto held = hold({557});
    kernel.refuse_from(1);
    ASSERT_TRUE(held->ask({.timeslice_ns = 512'000}));
    ASSERT_TRUE(held->ask({.timeslice_ns = 600'000}));
    EXPECT_FALSE(held->finish());
    put(*held, {.timeslice_ns = 700'000});
    EXPECT_NEAR(static_cast<double>(timeslices_us()[0]), 700, 7);
}

TEST_F(Holding, LeavesDisabledChannelsDisabled) {
    ASSERT_TRUE(gpu.perform(nvdebug::disable_channels({{0, 0}})));
    auto held = hold({557});
    put(*held, {.paused = true});
    put(*held, {});
    EXPECT_EQ(enabled(), (std::vector<bool>{false, true, true, true, true, true}));
}

TEST_F(Holding, TimeslicesAreThoseOfOneRunlist) {
    EXPECT_EQ(hold({557}, {.runlist = 0})->tsgs(), 1U);
    EXPECT_EQ(hold({557}, {.runlist = 5})->tsgs(), 0U);
    kernel.root = false;
    const nvdebug::Gpu seen(bench.tree(), 0);
    const std::vector<std::uint32_t> one = {557};
    EXPECT_EQ(seen.hold(one, {.runlist = 5}).value()->tsgs(), 1U) << "lists are for root";
}

/// A process has made more channels. A second hold takes them, and restores nothing of the first
/// one.
TEST_F(Holding, ASecondHoldTakesLaterChannels) {
    const auto before = timeslices_us();
    auto one = hold({557});
    put(*one, {.timeslice_ns = 512'000, .paused = true});
    const std::uint32_t more = kernel.add_process(557, {instances[4]});
    for (auto &[name, object] : kernel.others[more])
        object.timeslice_us = 2000;
    auto two = hold({557}, {.except = one->channels()});
    EXPECT_EQ(two->tsgs(), 1U);
    ASSERT_EQ(two->channels().size(), 1U);
    EXPECT_EQ(two->channels()[0].client, more);
    EXPECT_EQ(enabled(), (std::vector<bool>{false, false, true, true, true, true}));
    put(*two, {.timeslice_ns = 256'000, .paused = true});
    EXPECT_EQ(enabled(), (std::vector<bool>{false, false, true, true, false, true}));
    EXPECT_EQ(timeslices_us()[2], 256U);
    auto all = one->channels();
    all.push_back(two->channels()[0]);
    auto none = hold({557}, {.except = all});
    EXPECT_TRUE(none->channels().empty());
    put(*none, {.timeslice_ns = 30'000});
    none.reset();
    one.reset();
    EXPECT_EQ(timeslices_us()[0], before[0]);
    EXPECT_EQ(timeslices_us()[2], 256U);
    EXPECT_EQ(enabled(), (std::vector<bool>{true, true, true, true, false, true}));
    two.reset();
    EXPECT_EQ(enabled(), all_on);
    EXPECT_EQ(timeslices_us()[2], 1998U) << "in steps of 1,024 ns";
}

/// The timeslice of a TSG belongs to the hold that has a channel of the TSG.
TEST_F(Holding, LeavesATimesliceToTheHoldThatHasIt) {
    const auto channels = hold({557})->channels();
    auto rest = hold({557}, {.except = {channels[0]}});
    EXPECT_EQ(rest->tsgs(), 0U);
    EXPECT_EQ(rest->channels(), std::vector{channels[1]});
    put(*rest, {.timeslice_ns = 512'000, .paused = true});
    EXPECT_EQ(enabled(), (std::vector<bool>{true, false, true, true, true, true}));
}

/// One search serves all processes, and each gets its own hold.
TEST_F(Holding, HoldEachHoldsProcessesApart) {
    const auto before = timeslices_us();
    std::uint64_t asked_before = kernel.questions;
    hold({557});
    const std::uint64_t one = kernel.questions - asked_before;
    asked_before = kernel.questions;
    const std::vector<std::uint32_t> pids = {558, 4711, 557};
    auto held = gpu.hold_each(pids, {.patience = patience});
    EXPECT_LE(kernel.questions - asked_before, one + one / 2);
    ASSERT_TRUE(held) << held.error().sentence;
    ASSERT_EQ(held->size(), 3U);
    ASSERT_TRUE((*held)[0] && (*held)[2]);
    ASSERT_FALSE((*held)[1]);
    EXPECT_EQ((*held)[1].error().code, ErrorCode::not_found);
    put(**(*held)[0], {.timeslice_ns = 512'000});
    put(**(*held)[2], {.timeslice_ns = 700'000, .paused = true});
    EXPECT_EQ(timeslices_us()[1], 512U);
    EXPECT_EQ(enabled(), (std::vector<bool>{false, false, true, true, true, true}));
    (*held)[2]->reset();
    EXPECT_EQ(timeslices_us()[0], before[0]);
    EXPECT_EQ(timeslices_us()[1], 512U) << "the other one's stays";
    EXPECT_EQ(enabled(), all_on);
    // The other hold works on after this process has ended.
    kernel.end_process(557);
    put(**(*held)[0], {.timeslice_ns = 600'000});
    held->clear();
    EXPECT_EQ(timeslices_us()[1], before[1]);
}

TEST_F(Holding, HoldEachRefusesAProcessNamedTwice) {
    const std::vector<std::uint32_t> pids = {557, 557};
    auto held = gpu.hold_each(pids);
    ASSERT_TRUE(held) << held.error().sentence;
    EXPECT_TRUE((*held)[0]);
    ASSERT_FALSE((*held)[1]);
    EXPECT_EQ((*held)[1].error().code, ErrorCode::invalid);
    EXPECT_EQ((*held)[1].error().sentence, "process 557 is named twice");
}

TEST_F(Holding, RefusesAProcessWithoutChannels) {
    const std::vector<std::uint32_t> nobody = {4711};
    const auto held = gpu.hold(nobody);
    ASSERT_FALSE(held);
    EXPECT_EQ(held.error().code, ErrorCode::not_found);
}

} // namespace
} // namespace driver_test
