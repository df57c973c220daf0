// SPDX-License-Identifier: MIT OR GPL-2.0
// How well the clocks of nodes agree, by a stand-in for adjtimex(2).
#include "lib/base/clock_state.hpp"

#include <cerrno>
#include <gtest/gtest.h>
#include <sys/timex.h>

namespace {

using namespace nvdebug::base;

constexpr std::int64_t clock_ms = 1'000'000, usual_window = 50 * clock_ms;

/// Returns a clock that answers so, and fails if it is to be changed.
ReadClock clock_that_says(int status, long error_us, int tai, int state = TIME_OK) {
    return [=](timex *answer) {
        EXPECT_EQ(answer->modes, 0U);
        answer->status = status;
        answer->maxerror = error_us;
        answer->tai = tai;
        return state;
    };
}

ClockState synchronised(std::int64_t most_wrong_us) {
    return {.is_synchronised = true, .most_wrong_ns = most_wrong_us * 1000, .tai_offset_s = 37};
}

TEST(ClockState, HasTheKernelsErrorAndOffset) {
    EXPECT_EQ(read_clock_state(clock_that_says(STA_PLL | STA_NANO, 1600, 37)), synchronised(1600));
    EXPECT_EQ(read_clock_state(clock_that_says(0, 0, 0)).value().tai_offset_s, std::nullopt);
}

TEST(ClockState, OfAnUnsynchronisedClockIsNoFailure) {
    const auto state =
        read_clock_state(clock_that_says(STA_UNSYNC, 16'000'000, 0, TIME_ERROR)).value();
    EXPECT_FALSE(state.is_synchronised);
    EXPECT_EQ(state.most_wrong_ns, 16'000 * clock_ms);
}

TEST(ClockState, ThatCannotBeReadHasTheReason) {
    const auto state = read_clock_state([](timex *) {
        errno = EPERM;
        return -1;
    });
    ASSERT_FALSE(state);
    EXPECT_EQ(state.error(), "the state of the clock cannot be read (adjtimex: Operation not "
                             "permitted), so that nobody knows whether the clocks of nodes agree");
}

TEST(ClockState, OfThisMachineIsRead) {
    timex expected{};
    ASSERT_GE(::adjtimex(&expected), 0);
    const auto state = read_clock_state();
    ASSERT_TRUE(state);
    EXPECT_EQ(state->is_synchronised, !(expected.status & STA_UNSYNC));
    EXPECT_EQ(state->tai_offset_s.value_or(0), expected.tai);
}

TEST(ClockVerdict, SaysByHowMuchClocksMayDifferAndWhatThatCosts) {
    const ClockVerdict verdict = judge_clock(synchronised(1600), usual_window);
    EXPECT_TRUE(verdict.is_usable);
    EXPECT_EQ(verdict.sentence, "the clocks of nodes may differ by 3.20 ms; windows of 50.0 ms "
                                "lose about 6 %");
    EXPECT_EQ(judge_clock(synchronised(20), usual_window).sentence,
              "the clocks of nodes may differ by 40.0 us; windows of 50.0 ms lose less than 1 %");
    EXPECT_TRUE(judge_clock(synchronised(1700), usual_window).sentence.ends_with("about 7 %"))
        << "6.8 %";
}

TEST(ClockVerdict, OfClocksThatDifferTooMuchIsNo) {
    EXPECT_TRUE(judge_clock(synchronised(5000), usual_window).is_usable);
    EXPECT_FALSE(judge_clock(synchronised(5001), usual_window).is_usable);
    const ClockVerdict verdict = judge_clock(synchronised(6000), usual_window);
    EXPECT_FALSE(verdict.is_usable);
    EXPECT_EQ(verdict.sentence,
              "the clocks of nodes may differ by 12.0 ms; windows of 50.0 ms lose about 24 %, so "
              "that they are not used; 'chronyc tracking' on each node shows why");
    EXPECT_TRUE(judge_clock(synchronised(6000), 2 * usual_window).is_usable);
    EXPECT_NE(judge_clock(synchronised(30'000), usual_window).sentence.find("all of their time"),
              std::string::npos);
}

TEST(ClockVerdict, OfAClockThatNobodySynchronisesIsNo) {
    ClockState clock = synchronised(0);
    clock.is_synchronised = false;
    const ClockVerdict verdict = judge_clock(clock, usual_window);
    EXPECT_FALSE(verdict.is_usable);
    EXPECT_NE(verdict.sentence.find("chrony or phc2sys"), std::string::npos);
}

TEST(ClockVerdict, NamesAnOffsetOfTaiThatIsNotSet) {
    ClockState clock = synchronised(1600);
    clock.tai_offset_s.reset();
    const ClockVerdict verdict = judge_clock(clock, usual_window);
    EXPECT_TRUE(verdict.is_usable);
    EXPECT_NE(verdict.sentence.find("leapsectz right/UTC"), std::string::npos);
}

} // namespace
