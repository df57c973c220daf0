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
    sim.set_bursts(0, simulated::always());
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

/// Else the keepers would restore the tasks in each epoch.
TEST_F(Kept, StepsAreWithinThePatienceOfKeepersAlsoInALongerEpoch) {
    sim.set_bursts(0, simulated::always());
    start({"557=share:30%"});
    ASSERT_TRUE(gpu_goals);
    keep_until(500 * ms);
    nvqos::Goals longer = asked;
    longer.settings.epoch = 60 * qos::second;
    ASSERT_TRUE(gpu_goals->set_goals(longer));
    const nvqos::GpuGoals::Options usual;
    EXPECT_LE(gpu_goals->wait(), std::chrono::nanoseconds(usual.patience).count() / 2);
}

/// Missed goals have the tenant's name and the number of epochs.
TEST_F(Kept, MissesHaveTheirNamesAndNumbers) {
    sim.set_bursts(0, simulated::always());
    sim.set_bursts(1, simulated::always());
    start({"557=latency", "558=share:98%"});
    keep_until(4 * qos::second);
    auto missed = gpu_goals->missed();
    ASSERT_EQ(missed.size(), 1U);
    EXPECT_EQ(missed[0].tenant, "558");
    EXPECT_EQ(missed[0].of, reports.size());
    EXPECT_EQ(missed[0].epochs, reports.back().tenants[1].violations);
    const std::string first = missed[0].first;
    const auto epochs = missed[0].epochs;
    // Another goal of the same tenant is counted separately.
    nvqos::Goals other;
    for (const char *const word : {"557=latency", "558=share:97%"})
        ASSERT_TRUE(nvqos::add_word(word, other));
    ASSERT_TRUE(gpu_goals->set_goals(other));
    keep_until(8 * qos::second);
    missed = gpu_goals->missed();
    ASSERT_EQ(missed.size(), 2U);
    EXPECT_EQ(missed[0].epochs, epochs);
    EXPECT_EQ(missed[0].first, first);
    const std::string text = nvqos::text_of(missed[1]);
    EXPECT_TRUE(text.starts_with("558: share 97 % was not kept at the end of ")) << text;
}

/// Epochs at the end have the reason for which the last second has no verdict.
TEST_F(Kept, SecondsWithoutDemandAreNamed) {
    sim.set_bursts(0, simulated::always());
    sim.set_bursts(1, simulated::every(20 * ms, 3 * ms));
    start({"557=share:30%", "558=share:20%", "command:none=share:10%"});
    keep_until(500 * ms);
    EXPECT_EQ(reports.back().tenants[1].why_not, std::nullopt) << "there was no second so far";
    keep_until(2500 * ms);
    const auto reason = [&](std::size_t tenant) { return reports.back().tenants[tenant].why_not; };
    EXPECT_EQ(reason(0), std::nullopt);
    EXPECT_EQ(reason(1), std::nullopt);
    EXPECT_EQ(reason(2), nvqos::WhyNot::no_demand);
    sim.set_bursts(1, nullptr);
    keep_until(5 * qos::second);
    EXPECT_EQ(reason(0), std::nullopt);
    EXPECT_EQ(reason(1), nvqos::WhyNot::no_demand);
    EXPECT_EQ(nvqos::kept(reports.back().tenants[0]), true);
    EXPECT_EQ(nvqos::kept(reports.back().tenants[2]), std::nullopt);
    const std::string table = nvqos::table_of({reports.back()});
    EXPECT_NE(table.find("no demand"), std::string::npos) << table;
    EXPECT_NE(table.find("nobody"), std::string::npos) << table;
}

/// A second with lost switches is not reported as kept, and the next ones are judged again.
TEST_F(Kept, SecondsWithLostSwitchesCannotBeSeen) {
    sim.set_bursts(0, simulated::always());
    sim.set_bursts(1, simulated::always());
    start({"557=share:30%", "558=cap:50%"});
    keep_until(4 * qos::second);
    EXPECT_EQ(nvqos::kept(reports.back().tenants[0]), true);
    kernel.dropped += 10;
    keep_until(4500 * ms);
    for (const std::size_t tenant : {0U, 1U}) {
        EXPECT_EQ(reports.back().tenants[tenant].why_not, nvqos::WhyNot::cannot_be_seen);
        EXPECT_NE(nvqos::kept(reports.back().tenants[tenant]), true);
    }
    EXPECT_EQ(reports.back().tenants[2].why_not, std::nullopt) << "it has no goal to be kept";
    keep_until(7 * qos::second);
    EXPECT_EQ(reports.back().tenants[0].why_not, std::nullopt);
    EXPECT_EQ(nvqos::kept(reports.back().tenants[0]), true);
    const auto missed = gpu_goals->missed();
    ASSERT_EQ(missed.size(), 2U) << "the others have no goal to be seen";
    for (const nvqos::Missed &one : missed) {
        EXPECT_GE(one.unseen + one.epochs, 9U);
        EXPECT_LE(one.unseen + one.epochs, 12U);
        EXPECT_GE(one.unseen, 1U);
        EXPECT_TRUE(nvqos::is_too_often(one));
    }
}

/// One tenant uses another GPU, and a second tenant uses none.
TEST(WhyNot, AnotherGpuIsNamedIfATenantHasTasksThere) {
    const auto report = [](std::uint32_t gpu, std::size_t tasks) {
        nvqos::Report made{.gpu = gpu, .epoch = {}, .tenants = {}, .lost = 0};
        for (const char *const name : {"train", "serve"}) {
            nvqos::TenantReport line{};
            line.name = name;
            line.record.kept = true;
            line.why_not = nvqos::WhyNot::no_demand;
            made.tenants.push_back(line);
        }
        made.tenants[0].tasks = tasks;
        return made;
    };
    nvqos::Report first = report(0, 0);
    nvqos::note_other_gpus(first, {{0, report(0, 1)}});
    EXPECT_EQ(first.tenants[0].why_not, nvqos::WhyNot::no_demand) << "it is the same GPU";
    nvqos::note_other_gpus(first, {{1, report(1, 1)}});
    EXPECT_EQ(first.tenants[0].why_not, nvqos::WhyNot::another_gpu);
    EXPECT_EQ(first.tenants[1].why_not, nvqos::WhyNot::no_demand) << "nobody uses any GPU";
    EXPECT_EQ(nvqos::kept(first.tenants[0]), std::nullopt);
    EXPECT_NE(nvqos::table_of({first}).find("another GPU"), std::string::npos);
    nvqos::Report idle = report(0, 1);
    nvqos::note_other_gpus(idle, {{1, report(1, 1)}});
    EXPECT_EQ(idle.tenants[0].why_not, nvqos::WhyNot::no_demand) << "it has a process here";
}

TEST(Missed, OneEpochInAHundredIsNotTooOften) {
    nvqos::Missed one{"a", *nvqos::parse_goal("share:30%")};
    for (int n = 0; n < 99; n++)
        one.add(true, "");
    one.add(false, "2026-11-25T14:02:11Z");
    EXPECT_FALSE(nvqos::is_too_often(one));
    one.add(false, "2026-11-25T14:02:12Z");
    EXPECT_TRUE(nvqos::is_too_often(one));
    EXPECT_FALSE(nvqos::is_too_often({"b", *nvqos::parse_goal("share:30%")}));
}

TEST(Missed, UnseenEpochsDoNotCountAsKept) {
    nvqos::Missed one{"a", *nvqos::parse_goal("share:30%")};
    for (int n = 0; n < 199; n++)
        one.add(true, "");
    EXPECT_FALSE(one.any());
    one.add(std::nullopt, "2026-11-25T14:02:11Z");
    EXPECT_TRUE(one.any());
    EXPECT_FALSE(nvqos::is_too_often(one));
    EXPECT_EQ(nvqos::text_of(one), "a: share 30 % could not be seen at the end of 1 of 200 epochs, "
                                   "because turns do not show it, "
                                   "switches were lost, or tasks are clients of an MPS server");
    one.add(false, "2026-11-25T14:02:12Z");
    EXPECT_FALSE(nvqos::is_too_often(one));
    one.add(std::nullopt, "2026-11-25T14:02:13Z");
    EXPECT_TRUE(nvqos::is_too_often(one)) << "3 of 202";
    EXPECT_EQ(
        nvqos::text_of(one),
        "a: share 30 % was not kept at the end of 1 of 202 epochs, at 2026-11-25T14:02:12Z; at "
        "the end of 2 more epochs this could not be seen, because turns do not show it, switches "
        "were "
        "lost, or tasks are clients of an MPS server");
    std::vector<nvqos::Missed> all;
    nvqos::add_missed(all, one);
    nvqos::add_missed(all, one);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].unseen, 4U);
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
    sim.set_bursts(0, simulated::always());
    sim.set_bursts(1, simulated::always());
    start({"557=share:60%", "558=share:50%"}, {.takes_any_goals = true});
    keep_until(qos::second);
    const auto notes = nvqos::notes_on({{0, reports.back()}}, {});
    ASSERT_EQ(notes.size(), 1U);
    for (const char *const part : {"gpu0: since 2", "Z each promise is cut", "add up to 110 %",
                                   "557 (share 60 %), 558 (share 50 %)", "ask for less"})
        EXPECT_NE(notes[0].find(part), std::string::npos) << notes[0];
    keep_until(4 * qos::second);
    bool any = false;
    for (std::size_t n = 0; n < 2; n++)
        if (!reports.back().tenants[n].record.kept) {
            any = true;
            EXPECT_EQ(reports.back().tenants[n].why_not, nvqos::WhyNot::refused);
        }
    EXPECT_TRUE(any) << "110 % were kept";
    const std::string table = nvqos::table_of({reports.back()});
    EXPECT_NE(table.find("NO: refused"), std::string::npos) << table;
    nvqos::Goals other;
    ASSERT_TRUE(nvqos::add_word("557=share:60%", other));
    ASSERT_TRUE(gpu_goals->set_goals(other));
    keep_until(5 * qos::second);
    EXPECT_TRUE(nvqos::notes_on({{0, reports.back()}}, {}).empty());
}

} // namespace
} // namespace served
