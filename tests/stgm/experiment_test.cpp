// SPDX-License-Identifier: MIT OR GPL-2.0
// Sets at random by Table I, and the counts of figures.
#include "lib/stgm/experiment.hpp"
#include "sets.hpp"

namespace stgm {
namespace {

TEST(Generate, SetsAreWithinTableOne) {
    Random random(5);
    for (int n = 0; n < 500; n++) {
        const auto set = generate({}, random);
        ASSERT_TRUE(set);
        EXPECT_TRUE(parse(to_json(*set).dump()));
        EXPECT_GE(set->cores, 2U);
        EXPECT_LE(set->cores, 4U);
        EXPECT_GE(set->tasks.size(), 2 * set->cores);
        EXPECT_LE(set->tasks.size(), 4 * set->cores);
        const auto users = static_cast<double>(std::ranges::count_if(set->tasks, &Task::uses_gpu));
        const double ratio = users / (static_cast<double>(set->tasks.size()) - users);
        EXPECT_GT(ratio, 0.05);
        EXPECT_LT(ratio, 4.1) << "rounded to whole tasks";
        const Model model(*set);
        for (const Numbers &one : model.tasks()) {
            EXPECT_GE(one.period, 100'000);
            EXPECT_LE(one.period, 500'000);
            const double u =
                static_cast<double>(one.cpu + one.segments()) / static_cast<double>(one.period);
            EXPECT_GT(u, 0.0499);
            EXPECT_LT(u, 0.3001);
            if (!one.uses_gpu())
                continue;
            const auto on_gpu = static_cast<double>(one.segments());
            EXPECT_NEAR(static_cast<double>(one.cpu) / on_gpu, 0.5, 0.2001);
            EXPECT_NEAR(static_cast<double>(one.kernels) / on_gpu, 0.8, 0.1001);
        }
    }
}

TEST(Generate, UtilisationsAddUp) {
    Random random(6);
    const auto set = generate({.cores = 4, .tasks = 10, .utilisation = 1.5}, random);
    ASSERT_TRUE(set);
    double sum = 0;
    const Model model(*set);
    for (const Numbers &one : model.tasks())
        sum += static_cast<double>(one.cpu + one.segments()) / static_cast<double>(one.period);
    EXPECT_NEAR(sum, 1.5, 0.001);
    EXPECT_FALSE(generate({.cores = 4, .tasks = 3, .utilisation = 1.5}, random));
}

TEST(Generate, SameSeedGivesTheSameSet) {
    Random one(8), other(8), third(9);
    const std::string text = to_json(*generate({}, one)).dump();
    EXPECT_EQ(to_json(*generate({}, other)).dump(), text);
    EXPECT_NE(to_json(*generate({}, third)).dump(), text);
}

TEST(Experiment, CountsDependOnTheSeedAndNotOnThreads) {
    const auto one = figures(3, 1, 1, nullptr), three = figures(3, 1, 3, nullptr);
    bool all = true, none = true;
    for (std::size_t figure = 0; figure < one.size(); figure++)
        for (std::size_t point = 0; point < one[figure].points.size(); point++)
            for (std::size_t curve = 0; curve < curves().size(); curve++) {
                const Count &count = one[figure].counts[point][curve];
                EXPECT_EQ(count.sets, 3U);
                EXPECT_EQ(count.schedulable, three[figure].counts[point][curve].schedulable);
                EXPECT_EQ(count.weight, three[figure].counts[point][curve].weight);
                all &= count.schedulable == count.sets;
                none &= count.schedulable == 0;
            }
    EXPECT_FALSE(all || none);
}

/** Compares with table I of Newcombe (1998). */
TEST(Experiment, WilsonIntervalsMatchPublishedOnes) {
    EXPECT_NEAR(wilson(81.0 / 263, 263).low, 0.2553, 5e-5);
    EXPECT_NEAR(wilson(81.0 / 263, 263).high, 0.3662, 5e-5);
    EXPECT_NEAR(wilson(0.0 / 20, 20).low, 0, 1e-9);
    EXPECT_NEAR(wilson(0.0 / 20, 20).high, 0.1611, 5e-5);
    EXPECT_NEAR(wilson(29.0 / 29, 29).low, 0.8830, 5e-5);
    EXPECT_NEAR(wilson(29.0 / 29, 29).high, 1, 1e-9);
}

TEST(Experiment, UnequalWeightsCountForFewerSets) {
    EXPECT_DOUBLE_EQ((Count{.sets = 4, .weight = 40, .weight_squares = 400}.effective_sets()), 4);
    EXPECT_DOUBLE_EQ((Count{.sets = 2, .weight = 40, .weight_squares = 1000}.effective_sets()),
                     1.6);
    EXPECT_EQ(wilson(0, Count{}.effective_sets()).high, 1);
}

} // namespace
} // namespace stgm
