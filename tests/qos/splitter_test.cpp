// SPDX-License-Identifier: MIT OR GPL-2.0
// The search for TPCs, where the others' launches a second are a function of the division.
#include "lib/qos/splitter.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>

namespace {

using namespace qos;

constexpr int all_tpcs = 66;

/// Which division it ends with.
struct Search {
    Search(Part goal, std::function<double(int)> rate)
        : splitter(all_tpcs, goal, 0), rate_(std::move(rate)) {}

    void until(Ns end, Splitter::Others others = Splitter::Others::launch) {
        for (; now < end; now += 4 * ms) {
            ended_ += rate_(splitter.own()) * 4e-3;
            splitter.step(now, static_cast<std::uint64_t>(ended_), others);
        }
    }

    Splitter splitter;
    Ns now = 0;

  private:
    std::function<double(int)> rate_;
    double ended_ = 0;
};

TEST(Splitter, FindsWhatLeavesTheOthersMost) {
    // The tenant needs 40 TPCs: with fewer the others are held for it. 0: they take turns.
    const auto rate = [](int own) {
        return own == 0    ? 3000
               : own >= 40 ? 5000.0 * (all_tpcs - own) / 26
                           : std::max(0.0, 5000 - 300.0 * (40 - own));
    };
    for (const Part goal : {50 * point, 60 * point, 75 * point, 90 * point}) {
        Search search(goal, rate);
        search.until(15 * second);
        EXPECT_FALSE(search.splitter.is_searching());
        EXPECT_NEAR(search.splitter.own(), 40, 3) << goal;
    }
}

TEST(Splitter, LeavesAllTheWholeGpuWhereThatIsBest) {
    Search search(70 * point, [](int own) { return own ? 4000 : 4000; });
    search.until(10 * second);
    EXPECT_FALSE(search.splitter.is_searching());
    EXPECT_EQ(search.splitter.own(), 0);
}

TEST(Splitter, SearchesAgain) {
    double best = 20;
    Search search(50 * point, [&](int own) { return own ? 5000 - 100 * std::abs(own - best) : 1; });
    search.until(15 * second);
    EXPECT_NEAR(search.splitter.own(), 20, 3);
    best = 50;
    search.until(90 * second);
    EXPECT_NEAR(search.splitter.own(), 50, 3);
}

TEST(Splitter, SearchesTheLessOftenTheLessItFinds) {
    for (const double best : {0., 20.}) {
        Search search(50 * point, [&](int own) {
            return (own == 0) == (best == 0) ? 5000 - 100 * std::abs(own - best) : 1;
        });
        const auto searches = [&](Ns end) {
            int count = 0;
            for (bool was = true; search.now < end; was = search.splitter.is_searching()) {
                search.until(search.now + 100 * ms);
                count += search.splitter.is_searching() && !was;
            }
            return count;
        };
        EXPECT_EQ(searches(4000 * second), 7) << "after 1, 2, 4, 8 and thrice 16 minutes: " << best;
        EXPECT_NEAR(search.splitter.own(), best, 3);
        EXPECT_EQ(searches(8000 * second), 4);
    }
}

TEST(Splitter, CountsNothingWhileTheOthersHaveNoWork) {
    Search search(50 * point, [](int own) { return own ? 5000 : 1; });
    search.until(20 * second, Splitter::Others::idle);
    EXPECT_TRUE(search.splitter.is_searching());
    EXPECT_EQ(search.splitter.own(), 0);
}

TEST(Splitter, CountsWhatTheTenantIsOwed) {
    // With less than 40 TPCs the tenant falls behind after a while, and the others are held for as
    // long as they ran: 1750 a second in the mean of whole times.
    Splitter splitter(all_tpcs, 50 * point, 0);
    double ended = 0;
    int own = 0;
    Ns since = 0;
    for (Ns now = 0; now < 15 * second; now += 4 * ms) {
        if (splitter.own() != own) {
            own = splitter.own();
            since = now;
        }
        const bool behind = own && own < 40 && (now - since) / (450 * ms) % 2 == 1;
        const double rate = behind ? 0 : own == 0 ? 100 : own < 40 ? 3500 : 2000;
        ended += rate * 4e-3;
        splitter.step(now, static_cast<std::uint64_t>(ended),
                      behind ? Splitter::Others::yield : Splitter::Others::launch);
    }
    EXPECT_FALSE(splitter.is_searching());
    EXPECT_GE(splitter.own(), 40);
}

TEST(Splitter, LeavesADivisionInWhichTheTenantStaysBehind) {
    // There are looks again and again, as it does not come nearer its goal.
    Splitter splitter(all_tpcs, 90 * point, 0);
    double ended = 0;
    for (Ns now = 0; now < 30 * second; now += 4 * ms) {
        const bool starves = splitter.own() > 50, looks = now / (100 * ms) % 3 == 0;
        ended += starves ? .01 : splitter.own() ? 20 - splitter.own() / 10. : 8;
        splitter.step(now, static_cast<std::uint64_t>(ended),
                      starves && looks ? Splitter::Others::look
                      : starves        ? Splitter::Others::yield
                                       : Splitter::Others::launch);
    }
    EXPECT_FALSE(splitter.is_searching());
    EXPECT_LT(splitter.own(), 50);
    EXPECT_GT(splitter.own(), 0);
}

TEST(Splitter, CountsNoLook) {
    // Three fifths of the time around the best division are looks.
    Splitter splitter(all_tpcs, 50 * point, 0);
    double ended = 0;
    for (Ns now = 0; now < 20 * second; now += 4 * ms) {
        const int own = splitter.own(), from_best = std::abs(own - 20);
        const bool looks = from_best < 6 && now % (300 * ms) < 180 * ms;
        ended += looks ? 0 : own ? 20 - from_best / 5. : 1;
        splitter.step(now, static_cast<std::uint64_t>(ended),
                      looks ? Splitter::Others::look : Splitter::Others::launch);
    }
    EXPECT_FALSE(splitter.is_searching());
    EXPECT_NEAR(splitter.own(), 20, 4);
}

TEST(Splitter, StaysWithinTheGpu) {
    for (const Part goal : {point, whole})
        for (const int count : {2, 3, 5, 66}) {
            Splitter splitter(count, goal, 0);
            for (Ns now = 0; now < 30 * second; now += 4 * ms) {
                splitter.step(now, static_cast<std::uint64_t>(now / 1000),
                              Splitter::Others::launch);
                ASSERT_GE(splitter.own(), 0);
                ASSERT_LT(splitter.own(), count);
            }
            EXPECT_FALSE(splitter.is_searching());
        }
}

} // namespace
