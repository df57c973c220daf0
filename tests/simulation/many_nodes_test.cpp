// SPDX-License-Identifier: MIT OR GPL-2.0
// Windows by the clock on several nodes: the discrete simulation, and the closed form for many nodes
// beside it.
#include "lib/simulation/many_nodes.hpp"

#include <array>
#include <gtest/gtest.h>

#include "lib/simulation/clock_windows.hpp"
#include "trainings.hpp"

namespace {

using namespace test_jobs;
using simulation::ManyNodes;
using simulation::Scenario;
using simulation::simulate;

Scenario on_nodes(std::size_t nodes, std::size_t gpus, Ns skew,
                  const std::vector<simulation::Job> &jobs) {
    Scenario made = scenario(jobs, gpus);
    made.gpus.nodes = nodes;
    made.gpus.skew = skew;
    made.gpus.kernel_jitter = 3 * qos::point;
    return made;
}

/// Returns a job that does nothing but collectives, which progress only while all ranks run.
simulation::Job tight_job(const std::string &name, std::size_t gpus, const qos::Goal &goal = {}) {
    return job(name, first_gpus(gpus), {collective(1000, 0)}, goal);
}

/// Expects the form's sum of speeds from the discrete simulation.
void expect_form(const Scenario &jobs, Ns window) {
    const simulation::Gpus &gpus = jobs.gpus;
    const ManyNodes form{.nodes = gpus.nodes,
                         .gpus_of_node = gpus.count / gpus.nodes,
                         .window = window,
                         .skew = gpus.skew,
                         .gpus = gpus};
    const Ns together =
        simulation::together_in_window(form, simulation::clocks_ahead(gpus, jobs.seed));
    EXPECT_NEAR(sum_of(simulate(jobs)), number(qos::scaled(together, qos::whole, window)), 0.002)
        << gpus.nodes << " nodes, " << form.gpus_of_node << " GPUs, " << gpus.skew << " ns";
}

TEST(ManyNodes, FormAgreesWithTheDiscreteSimulation) {
    std::uint64_t seed = 1;
    for (const std::size_t nodes : {1U, 2U, 3U, 4U})
        for (const std::size_t gpus : {1U, 2U, 8U})
            for (const Ns skew : {10 * qos::us, 1 * qos::ms, 5 * qos::ms, 30 * qos::ms}) {
                const std::size_t all = nodes * gpus;
                Scenario both =
                    on_nodes(nodes, all, skew, {tight_job("a", all), tight_job("b", all)});
                both.seed = seed++;
                // By chance jobs of two GPUs of one node run together and are left as they are. On
                // one node, windows of jobs that never give way are longer.
                if (all > 2 || nodes > 1)
                    expect_form(both, nodes > 1 ? 50 * qos::ms : 100 * qos::ms);
            }
}

TEST(ManyNodes, FormAgreesForWindowsOfOtherLengths) {
    Scenario three =
        on_nodes(3, 12, 4 * qos::ms, {tight_job("a", 12), tight_job("b", 12), tight_job("c", 12)});
    expect_form(three, 200 * qos::ms / 3);
    three.jobs.pop_back();
    three.gpus.request = 200 * qos::us;
    three.gpus.late = 400 * qos::us;
    expect_form(three, 50 * qos::ms);
}

TEST(ManyNodes, TableOfThePage) {
    struct TableRow {
        std::size_t nodes;
        std::array<double, 5> sums; ///< by skew
    };
    constexpr std::array skews = {10 * qos::us, 100 * qos::us, 1 * qos::ms, 2 * qos::ms,
                                  5 * qos::ms};
    // docs/gangs.md, "Several nodes"
    const std::array rows = {
        TableRow{1, {0.89, 0.89, 0.89, 0.89, 0.89}}, TableRow{4, {0.89, 0.89, 0.88, 0.87, 0.83}},
        TableRow{16, {0.89, 0.89, 0.87, 0.85, 0.80}}, TableRow{128, {0.89, 0.89, 0.87, 0.85, 0.79}},
        TableRow{1000, {0.89, 0.89, 0.87, 0.85, 0.79}}};
    for (const TableRow &row : rows)
        for (std::size_t n = 0; n < skews.size(); n++)
            EXPECT_NEAR(
                number(simulation::sum_of_speeds({.nodes = row.nodes, .skew = skews[n]}, 1)),
                row.sums[n], 0.0051)
                << row.nodes << " nodes, " << skews[n] << " ns";
    const ManyNodes longer{.nodes = 1000, .window = 100 * qos::ms, .skew = 5 * qos::ms};
    EXPECT_NEAR(number(simulation::sum_of_speeds(longer, 1)), 0.895, 0.0051);
}

/// A step of a training more or less in 17 seconds.
constexpr double a_step_in_17_s = 0.0113;

TEST(ManyNodes, TrainingsHaveMoreThanAsTheyAre) {
    for (const std::size_t nodes : {2U, 4U})
        for (const Ns skew : {10 * qos::us, 5 * qos::ms}) {
            const GpuSet gpus = first_gpus(8 * nodes);
            Scenario both = on_nodes(nodes, gpus.size(), skew,
                                     {training_of("a", gpus), training_of("b", gpus)});
            both.duration = 20 * qos::second;
            const simulation::Result result = simulate(both);
            both.has_control = false;
            EXPECT_GE(sum_of(result), (skew > qos::ms ? 0.99 : 1.01) - a_step_in_17_s);
            EXPECT_LE(sum_of(simulate(both)), nodes == 2 ? 0.56 : 0.31);
            EXPECT_TRUE(result.jobs[0].gang);
            EXPECT_EQ(result.jobs[0].gang_why, "a gang, with windows by the clock on " +
                                                   std::to_string(gpus.size()) + " GPUs of " +
                                                   std::to_string(nodes) + " nodes");
        }
}

TEST(ManyNodes, SharesAndCapsAreKeptOnEachNode) {
    const Scenario three =
        on_nodes(2, 4, 1 * qos::ms,
                 {tight_job("a", 4, share_of(30)), tight_job("b", 4, {.cap = 20 * qos::point}),
                  tight_job("c", 4)});
    const simulation::Result result = simulate(three);
    EXPECT_TRUE(result.all_kept());
    for (const simulation::JobResult::OnGpu &rank : result.jobs[0].gpus)
        EXPECT_NEAR(number(rank.got), 0.3, 0.01);
    EXPECT_GE(number(result.jobs[1].got), 0.17);
}

TEST(ManyNodes, JobOfOneNodeDoesNotSlowTheOthers) {
    Scenario three = on_nodes(2, 4, 1 * qos::ms, {tight_job("a", 4), tight_job("b", 4)});
    const double before = sum_of(simulate(three));
    three.jobs.push_back(job("0", {1}, {kernel(5000)}));
    const simulation::Result result = simulate(three);
    EXPECT_NEAR(speed_of(result.jobs[0]) + speed_of(result.jobs[1]), before, 0.01);
    EXPECT_EQ(result.jobs[2].gang_why, "has only the time that jobs of several nodes leave");
    // A job of one node on a GPU that the jobs of several nodes leave free is left as it is.
    three.gpus.count = 6;
    three.jobs[2].gpus = {5};
    for (simulation::Job &one : three.jobs)
        if (one.ranks() > 1)
            one.gpus = {0, 1, 3, 4};
    EXPECT_NEAR(speed_of(simulate(three).jobs[2]), 1, 0.001);
}

TEST(ManyNodes, EachNodeHasADriverOfItsOwn) {
    // The GPUs of a node are changed one after the other, those of different nodes side by side.
    const std::vector<simulation::Job> jobs = {tight_job("a", 8), tight_job("b", 8)};
    EXPECT_GE(sum_of(simulate(on_nodes(4, 8, 0, jobs))),
              sum_of(simulate(on_nodes(2, 8, 0, jobs))) + 0.02);
}

} // namespace
