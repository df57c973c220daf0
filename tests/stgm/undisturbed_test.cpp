// SPDX-License-Identifier: MIT OR GPL-2.0
// The undisturbed jobs in traces made by hand.
#include <gtest/gtest.h>

#include "lib/stgm/undisturbed.hpp"

namespace stgm {
namespace {

struct Expected {
    std::uint64_t jobs;
    Time response;
    std::uint64_t above;
};

void expect(const Trace &trace, const std::vector<Expected> &expected) {
    const std::vector<std::optional<Time>> bounds{10, std::nullopt};
    const auto found = undisturbed(trace, bounds);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t task = 0; task < found.size(); task++) {
        EXPECT_EQ(found[task].jobs, expected[task].jobs) << task;
        EXPECT_EQ(found[task].response, expected[task].response) << task;
        EXPECT_EQ(found[task].above, expected[task].above) << task;
    }
}

/** Returns a trace with two intervals. The first has a job of each task, and the second one job,
 * which is above its bound. */
Trace two_intervals() {
    return {{0, What::release, 0, 0, 0}, {5, What::release, 1, 0, 0},  {9, What::finish, 0, 0, 0},
            {20, What::finish, 1, 0, 0}, {20, What::release, 0, 1, 0}, {31, What::finish, 0, 1, 0}};
}

Trace with(What what, Time at, std::size_t task) {
    Trace trace = two_intervals();
    trace.push_back({at, what, task, 0, 0});
    std::ranges::stable_sort(trace, {}, &Record::at);
    return trace;
}

TEST(Undisturbed, AllJobsCountWithoutDisturbances) {
    expect(two_intervals(), {{2, 11, 1}, {1, 15, 0}});
}

TEST(Undisturbed, DisturbancesExcludeTheirInterval) {
    // The first two are overruns of the other task in the same interval, before the release of a
    // job and after its end.
    expect(with(What::overrun, 3, 1), {{1, 11, 1}, {0, 0, 0}});
    expect(with(What::overrun, 15, 1), {{1, 11, 1}, {0, 0, 0}});
    expect(with(What::stall, 9, 0), {{1, 11, 1}, {0, 0, 0}});
    expect(with(What::stall, 30, 1), {{1, 9, 0}, {1, 15, 0}});
}

TEST(Undisturbed, DisturbancesBetweenIntervalsExcludeNoJob) {
    expect(with(What::stall, 40, 0), {{2, 11, 1}, {1, 15, 0}});
}

TEST(Undisturbed, UnfinishedJobExcludesLaterJobs) {
    Trace trace = two_intervals();
    std::erase_if(
        trace, [](const Record &record) { return record.at == 20 && record.what == What::finish; });
    expect(trace, {{0, 0, 0}, {0, 0, 0}});
}

} // namespace
} // namespace stgm
