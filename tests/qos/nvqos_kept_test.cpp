// SPDX-License-Identifier: MIT OR GPL-2.0
// Reports on goals: parts of enough time, goals that were not kept and when, promises that do not
// fit.
#include "kept.hpp"

#include <gtest/gtest.h>

#include "tools/nvqos/report.hpp"

namespace served {
namespace {

using namespace qos;

/// A turn that began before a tenant's goal counts from the beginning of the goal on.
TEST_F(Kept, PartsAreOfEnoughTime) {
    sim.tasks[0].arrives = simulated::always();
    start({"558=cap:90%"});
    keep_until(1200 * ms);
    nvqos::Goals held = asked;
    auto family = std::make_shared<nvqos::Family>();
    family->add({557, kernel.processes[557].started});
    held.tenants.push_back({"held", {}, *nvqos::parse_goal("share:30%"), family});
    run_until(1270 * ms);
    ASSERT_TRUE(gpu_goals->set_goals(held));
    for (Ns until = 1275 * ms; until < 3 * qos::second; until += 25 * ms) {
        keep_until(until);
        const nvqos::Use use = gpu_goals->uses().at(0).use;
        EXPECT_LE(use.used, use.time) << until;
        EXPECT_EQ(use.part.has_value(), use.time >= qos::second) << until;
        EXPECT_LE(use.part.value_or(0), qos::whole);
    }
    std::optional<Ns> first;
    for (const nvqos::Report &report : reports) {
        const nvqos::TenantReport &tenant = report.tenants.at(report.tenants.size() - 2);
        if (tenant.name == "held" && tenant.got && !first)
            first = report.epoch.end - reports.front().epoch.begin;
        EXPECT_LE(tenant.got.value_or(0), qos::whole);
    }
    ASSERT_TRUE(first);
    EXPECT_GE(*first, 2270 * ms);
    EXPECT_LE(*first, 2500 * ms);
    EXPECT_EQ(qos::least_for_part({.epoch = qos::second}), 4 * qos::second);
}

/// Missed goals have the tenant's name and the number of epochs.
TEST_F(Kept, MissesHaveTheirNamesAndNumbers) {
    sim.tasks[0].arrives = simulated::always();
    sim.tasks[1].arrives = simulated::always();
    start({"557=latency", "558=share:30%"});
    keep_until(2 * qos::second);
    auto missed = gpu_goals->missed();
    ASSERT_EQ(missed.size(), 1U);
    EXPECT_EQ(missed[0].tenant, "558");
    EXPECT_EQ(missed[0].of, reports.size());
    EXPECT_EQ(missed[0].epochs, reports.back().tenants[1].violations);
    const std::string first = missed[0].first;
    const auto epochs = missed[0].epochs;
    // Another goal of the same tenant is counted separately.
    nvqos::Goals other;
    for (const char *const word : {"557=latency", "558=share:40%"})
        ASSERT_TRUE(nvqos::add_word(word, other));
    ASSERT_TRUE(gpu_goals->set_goals(other));
    keep_until(4 * qos::second);
    missed = gpu_goals->missed();
    ASSERT_EQ(missed.size(), 2U);
    EXPECT_EQ(missed[0].epochs, epochs);
    EXPECT_EQ(missed[0].first, first);
    const std::string text = nvqos::text_of(missed[1]);
    EXPECT_TRUE(text.starts_with("558: share 40 % was not kept at the end of ")) << text;
}

TEST(Missed, AreMergedAndBounded) {
    nvqos::Missed one{"a", *nvqos::parse_goal("share:30%")};
    one.add(true, "2026-11-25T14:02:10Z");
    EXPECT_EQ(one.epochs, 0U);
    one.add(false, "2026-11-25T14:02:11Z");
    EXPECT_EQ(nvqos::text_of(one), "a: share 30 % was not kept at the end of 1 of 2 epochs, at "
                                   "2026-11-25T14:02:11Z");
    nvqos::Missed single{"b", *nvqos::parse_goal("cap:5%")};
    single.add(false, "2026-11-25T14:02:09Z");
    EXPECT_EQ(nvqos::text_of(single),
              "b: cap 5 % was not kept at the end of 1 of 1 epoch, at 2026-11-25T14:02:09Z");
    std::vector<nvqos::Missed> all;
    nvqos::add_missed(all, one);
    one.first = "2026-11-25T14:02:08Z";
    nvqos::add_missed(all, one);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(nvqos::text_of(all[0]), "a: share 30 % was not kept at the end of 2 of 4 epochs, "
                                      "between 2026-11-25T14:02:08Z and 2026-11-25T14:02:11Z");
    for (int n = 0; n < 300; n++) {
        single.tenant = "job:" + std::to_string(n);
        nvqos::add_missed(all, single);
    }
    EXPECT_LE(all.size(), 101U);
    EXPECT_TRUE(nvqos::text_of(all.back()).starts_with("goals of more tenants were not kept"));
}

TEST_F(Kept, PromisesThatDoNotFitAreNamed) {
    sim.tasks[0].arrives = simulated::always();
    sim.tasks[1].arrives = simulated::always();
    start({"557=share:60%", "558=share:50%"}, {.takes_any_goals = true});
    keep_until(qos::second);
    const auto notes = nvqos::notes_on({{0, reports.back()}});
    ASSERT_EQ(notes.size(), 1U);
    for (const char *const part : {"gpu0: since 2", "Z each promise is cut", "add up to 110 %",
                                   "557 (share 60 %), 558 (share 50 %)", "ask for less"})
        EXPECT_NE(notes[0].find(part), std::string::npos) << notes[0];
    nvqos::Goals other;
    ASSERT_TRUE(nvqos::add_word("557=share:60%", other));
    ASSERT_TRUE(gpu_goals->set_goals(other));
    keep_until(2 * qos::second);
    EXPECT_TRUE(nvqos::notes_on({{0, reports.back()}}).empty());
}

} // namespace
} // namespace served
