// SPDX-License-Identifier: MIT OR GPL-2.0
// Whether a second counts as kept, from what a tenant got in its epochs.
#include <gtest/gtest.h>

#include "lib/qos/verdict.hpp"

namespace {

using qos::Goal;
using qos::Ledger;
using qos::ms;
using qos::Ns;

constexpr Ns an_epoch = 100 * ms;

Goal share_of_ledger(qos::Part percent) {
    return {.aim = qos::Aim::share, .part = percent * qos::point};
}

/// Judges a tenant that always has work.
class Judged {
  public:
    Judged(const Goal &goal, Ns burst) : goal_(goal), burst_(burst) {}

    /// Adds epochs with these times on the GPU. Returns after how many of them the goal was not
    /// kept.
    int add(const std::vector<Ns> &all) {
        int missed = 0;
        for (const Ns used : all) {
            ledger_.add({.used = used, .backlogged = an_epoch}, used, an_epoch,
                        qos::window_of(burst_));
            missed += qos::judge(goal_, ledger_, burst_) != qos::Verdict::kept;
        }
        return missed;
    }

  private:
    const Goal goal_;
    const Ns burst_;
    Ledger ledger_;
};

/// Returns the epochs so many times.
std::vector<Ns> repeated(const std::vector<Ns> &epochs, int times) {
    std::vector<Ns> all;
    for (int n = 0; n < times; n++)
        all.insert(all.end(), epochs.begin(), epochs.end());
    return all;
}

/// As two decode loops beside each other have it: three epochs have 60 % together, and a second has
/// three or four of the short ones.
const std::vector<Ns> uneven = {64'200'000, 67'400'000, 48'500'000};

TEST(Ledger, SecondsWithABurstTooFewAreKeptIfTheirNeighboursHaveIt) {
    EXPECT_EQ(Judged(share_of_ledger(60), 7'200'000).add(repeated(uneven, 70)), 0);
}

TEST(Ledger, SharesBelowTheirPartInTheMeanAreMissed) {
    std::vector<Ns> less = uneven;
    for (Ns &epoch : less)
        epoch -= 1'100'000;
    EXPECT_GT(Judged(share_of_ledger(60), 7'200'000).add(repeated(less, 70)), 50);
    // No second is a burst too short. The first two do not count for the mean, which is known after two
    // more.
    EXPECT_EQ(Judged(share_of_ledger(60), 7'200'000).add(std::vector<Ns>(100, 58'900'000)), 61);
}

/// The seconds before have more than their part, which would make up for more. A second may have 10 ms
/// too little, 8 ms for turns at its ends, and two bursts.
TEST(Ledger, SecondsWithMoreThanTwoBurstsTooFewAreMissed) {
    for (const auto &[burst, less] :
         {std::pair(Ns(7'200'000), 32 * ms), {7'200'000, 33 * ms}, {0, 18 * ms}, {0, 19 * ms}}) {
        Judged judged(share_of_ledger(60), burst);
        EXPECT_EQ(judged.add(std::vector<Ns>(200, 64 * ms)), 0);
        std::vector<Ns> last(10, 60 * ms);
        last.front() -= less;
        EXPECT_EQ(judged.add(last), less > 18 * ms + 2 * burst) << burst;
    }
}

/// Two bursts of 90 ms are more than half of a share of 30 %.
TEST(Ledger, SecondsWithLessThanHalfOfTheirPartAreMissed) {
    Judged judged(share_of_ledger(30), 90 * ms);
    EXPECT_EQ(judged.add(std::vector<Ns>(200, 40 * ms)), 0);
    EXPECT_EQ(judged.add(std::vector<Ns>(10, 14'500'000)), 0);
    EXPECT_EQ(judged.add(std::vector<Ns>(10, 40 * ms)), 0);
    EXPECT_EQ(judged.add(std::vector<Ns>(10, 13'500'000)), 1);
}

/// After three seconds there are no earlier seconds that could make up for a burst too few.
TEST(Ledger, TheFirstSecondsHaveNoNeighbours) {
    std::vector<Ns> first(30, 60 * ms);
    first.back() = 27 * ms;
    EXPECT_EQ(Judged(share_of_ledger(60), 7'200'000).add(first), 1);
}

TEST(Ledger, NothingIsJudgedWhileTheTenantIsNew) {
    Judged fast(share_of_ledger(60), 7'200'000);
    EXPECT_EQ(fast.add(std::vector<Ns>(20, 5 * ms)), 0);
    EXPECT_EQ(fast.add(std::vector<Ns>(100, 60 * ms)), 0) << "the first seconds are in no mean";
    Judged slow(share_of_ledger(60), 7'200'000);
    EXPECT_EQ(slow.add(std::vector<Ns>(29, 5 * ms)), 0);
    EXPECT_EQ(slow.add(std::vector<Ns>(10, 5 * ms)), 10);
}

TEST(Ledger, TenantIsNewFromItsFirstWorkOn) {
    Ledger ledger;
    const auto judged_after = [&](const qos::Observation &seen, int epochs) {
        for (int n = 0; n < epochs; n++)
            ledger.add(seen, seen.used, an_epoch);
        return ledger.is_judged();
    };
    const qos::Observation idle = {}, busy = {.used = an_epoch, .backlogged = an_epoch};
    EXPECT_FALSE(judged_after(idle, 9));
    EXPECT_TRUE(judged_after(idle, 1)) << "it had no demand";
    EXPECT_FALSE(judged_after(busy, 1));
    EXPECT_FALSE(judged_after(idle, 28));
    EXPECT_TRUE(judged_after(busy, 1));
    EXPECT_TRUE(judged_after(idle, 50));
    EXPECT_TRUE(judged_after(busy, 1)) << "it is new once";
}

} // namespace
