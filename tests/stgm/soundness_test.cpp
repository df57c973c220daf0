// SPDX-License-Identifier: MIT OR GPL-2.0
// Many schedules, none of which takes longer than a sound bound. For each unsound equation of the
// paper there is a schedule that takes longer than its bound.
#include <cstdlib>

#include "lib/stgm/allocate.hpp"
#include "lib/stgm/search.hpp"
#include "random_sets.hpp"

namespace stgm {
namespace {

bool long_run() {
    return std::getenv("NVDEBUG_LONG") != nullptr;
}

struct Mode {
    const char *name;
    Waiting waiting;
};
const Mode modes[] = {{"suspend", {}}, {"spin", {false, true}}, {"busy", {true, false}}};

Options options_of(const Waiting &waiting, Method method = Method::stgm) {
    return {.method = method, .busy = waiting.busy, .spin_copies = waiting.spin_copies};
}

class Soundness : public testing::TestWithParam<Mode> {};

/** Simulates 10,000 schedules of sets with close bounds, or 1,000,000 in the long run. */
TEST_P(Soundness, NoScheduleTakesLongerThanABound) {
    const Waiting waiting = GetParam().waiting;
    const std::uint64_t each = 25,
                        sets = (long_run() ? 1'000'000 : 10'000) / std::size(modes) / each + 1;
    Random random(2026);
    std::uint64_t bounds = 0, reached = 0;
    for (std::uint64_t n = 0; n < sets; n++) {
        const TaskSet set = random_set(random);
        const auto loose = analyse(set, options_of(waiting)),
                   tight = analyse(set, options_of(waiting, Method::tight));
        const Found found = search(
            set, {.waiting = waiting, .schedules = each, .seed = random.next(), .most_jobs = 5});
        for (std::size_t task = 0; task < set.tasks.size(); task++) {
            EXPECT_LE(loose[task].response ? 1 : 0, tight[task].response ? 1 : 0);
            if (loose[task].response) {
                EXPECT_LE(*tight[task].response, *loose[task].response);
            }
            if (!tight[task].response)
                continue;
            bounds++;
            reached += found.worst[task].response == *tight[task].response;
            ASSERT_LE(found.worst[task].response, *tight[task].response)
                << set.tasks[task].name << " of " << to_json(set).dump();
        }
    }
    EXPECT_GT(bounds, sets);
    EXPECT_GT(reached, bounds / 10) << "the search does not come near";
}

/** Allocations that an analysis of the protocol accepts miss no deadline, whichever algorithm made
 * them. */
TEST_P(Soundness, AllocatedSetsMissNoDeadline) {
    const Waiting waiting = GetParam().waiting;
    Random random(1912);
    int allocated = 0;
    for (int n = 0; n < (long_run() ? 2000 : 40); n++) {
        const TaskSet set = random_set(random);
        for (const Algorithm algorithm : {Algorithm::mended, Algorithm::paper, Algorithm::disjoint})
            for (const Method method : {Method::stgm, Method::tight, Method::federated}) {
                const Allocation allocation = allocate(set, options_of(waiting, method), algorithm);
                if (!allocation.found)
                    continue;
                allocated++;
                const Found found = search(
                    allocation.set,
                    {.waiting = waiting, .schedules = 25, .seed = random.next(), .most_jobs = 5});
                for (std::size_t task = 0; task < set.tasks.size(); task++) {
                    EXPECT_EQ(found.misses[task], 0U)
                        << set.tasks[task].name << to_json(allocation.set).dump();
                    EXPECT_LE(found.worst[task].response, *allocation.bounds[task].response);
                }
            }
    }
    EXPECT_GT(allocated, 40);
}

INSTANTIATE_TEST_SUITE_P(Stgm, Soundness, testing::ValuesIn(modes),
                         [](const auto &info) { return std::string(info.param.name); });

struct Broken {
    const char *name;
    Waiting waiting;
    Printed printed;
    const char *file; ///< the set to search; nullptr: sets at random
};

class Equations : public testing::TestWithParam<Broken> {};

/** Returns true if the search finds a schedule in which some task exceeds its bound. */
bool exceeded(const TaskSet &set, const Broken &broken, std::uint64_t schedules,
              std::uint64_t seed) {
    Options options = options_of(broken.waiting);
    options.printed = broken.printed;
    const auto bounds = analyse(set, options);
    const auto over = [&](const Found &found) {
        for (std::size_t task = 0; task < bounds.size(); task++)
            if (bounds[task].response && found.worst[task].response > *bounds[task].response)
                return true;
        return false;
    };
    return over(search(set, {.waiting = broken.waiting,
                             .schedules = schedules,
                             .seed = seed,
                             .most_jobs = 4,
                             .enough = over}));
}

TEST_P(Equations, PrintedFormAloneIsExceeded) {
    const Broken &broken = GetParam();
    if (broken.file) {
        EXPECT_TRUE(exceeded(set_of(broken.file), broken, 20'000, 1));
        return;
    }
    Random random(11);
    for (int sets = 0; sets < 5000; sets++)
        if (const TaskSet set = random_set(random); exceeded(set, broken, 60, random.next()))
            return;
    FAIL() << "no schedule was found";
}

INSTANTIATE_TEST_SUITE_P(
    Printed, Equations,
    testing::Values(Broken{"equation_5", {}, {.direct_sharing = true}, nullptr},
                    Broken{"equation_7", {}, {.one_copy = true}, nullptr},
                    Broken{"equation_8", {}, {.cpu_segments = true}, "ce3"},
                    Broken{"equation_9", {true, false}, {.own_blocking = true}, nullptr},
                    Broken{"equation_11", {true, false}, {.no_waiting = true}, nullptr},
                    Broken{"equations_1_and_3", {false, true}, {.copies_suspend = true}, nullptr}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace stgm
