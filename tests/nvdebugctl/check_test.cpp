// SPDX-License-Identifier: MIT OR GPL-2.0
#include <gtest/gtest.h>

#include "check/check.hpp"
#include "state.hpp"

using namespace nvdebugctl;
using namespace nvdebugctl::tests;
using nvdebug::ErrorCode;

namespace {

std::vector<nvdebug::Channel> channels(std::uint32_t first, std::uint32_t count) {
    std::vector<nvdebug::Channel> made;
    for (std::uint32_t n = 0; n < count; ++n)
        made.push_back(channel(first + n));
    return made;
}

bool says(const Finding &finding, const std::string &words) {
    return finding.answer.find(words) != std::string::npos;
}

} // namespace

#define EXPECT_VERDICT(finding, wanted, words)                                                     \
    do {                                                                                           \
        const Finding found = finding;                                                             \
        EXPECT_STREQ(name_of(found.verdict), wanted) << found.answer;                              \
        EXPECT_TRUE(says(found, words)) << found.answer;                                           \
    } while (false)

TEST(Check, AsksEachRuleOnceAndAnswersIt) {
    const Facts facts = quiet_gpu();
    std::string names;
    for (const Rule &rule : rules()) {
        names += rule.name;
        const Finding finding = rule.find(facts);
        EXPECT_TRUE(finding.subject.ends_with("?")) << finding.subject;
        EXPECT_TRUE(finding.answer.ends_with(".")) << finding.answer;
        EXPECT_NE(finding.verdict, Verdict::trouble) << rule.name;
    }
    EXPECT_EQ(names, "R1R2R3R4R5R6R7R8");
}

TEST(Check, R1NamesDisabledAndFaultedChannels) {
    Facts facts = quiet_gpu();
    EXPECT_VERDICT(channels_are_the_way_in(facts), "ok", "None");
    facts.state.runlists[0] = runlist(0, {tsg(1, channels(0, 8))});
    EXPECT_VERDICT(channels_are_the_way_in(facts), "ok", "8 channels on 1 runlist");
    auto some = channels(0, 8);
    some[3].enabled = false;
    facts.state.runlists[0] = runlist(0, {tsg(1, some)});
    EXPECT_VERDICT(channels_are_the_way_in(facts), "attention", "3 on runlist 0");
    some[4].engine_faulted = true;
    facts.state.runlists[0] = runlist(0, {tsg(1, some)});
    EXPECT_VERDICT(channels_are_the_way_in(facts), "trouble", "4 on runlist 0");
    some[4].engine_faulted = false;
    some[5].error = "channel id out of range";
    facts.state.runlists[0] = runlist(0, {tsg(1, some)});
    EXPECT_VERDICT(channels_are_the_way_in(facts), "trouble", "no such channel: 5 on runlist 0");
    facts.state.runlists[1] = error(ErrorCode::io, "runlist1: bad");
    EXPECT_VERDICT(channels_are_the_way_in(facts), "trouble", "Not known of runlist 1,");
}

TEST(Check, R2CountsChannelsOfAddressSpacesOnComputeRunlists) {
    Facts facts = quiet_gpu();
    facts.state.runlists[1] = runlist(1, {tsg(2, channels(0, 1))});
    EXPECT_VERDICT(channels_limit_streams(facts), "ok", "No task");
    facts.state.runlists[0] = runlist(0, {tsg(1, channels(0, 8))});
    EXPECT_VERDICT(channels_limit_streams(facts), "ok", "At least 8");
    facts.state.runlists[0] = runlist(0, {tsg(1, channels(0, 16))});
    facts.state.spaces = std::vector{use(0, 1, 0x1000, 0, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 2),
                                     use(0, 1, 0x2000, 1, {10, 11, 12, 13, 14, 15}, 2)};
    EXPECT_VERDICT(channels_limit_streams(facts), "note", "6 channels: TSG 1 VEID 1");
    auto some = channels(0, 8);
    some[0].enabled = false;
    facts.state.spaces->clear();
    facts.state.runlists[0] = runlist(0, {tsg(1, some)});
    EXPECT_VERDICT(channels_limit_streams(facts), "note", "7 channels: TSG 1");
}

TEST(Check, R3ReportsListsThatAreNotWhole) {
    Facts facts = quiet_gpu();
    EXPECT_VERDICT(lists_are_whole(facts), "ok", "0 runlists with entries, 3 empty");
    auto group = tsg(1, channels(0, 2));
    facts.state.runlists[0] = runlist(0, {group});
    facts.state.runlists[0]->pending = true;
    EXPECT_VERDICT(lists_are_whole(facts), "attention", "pending");
    facts.state.runlists[0]->pending = false;
    facts.state.scheduling->at(0) = false;
    EXPECT_VERDICT(lists_are_whole(facts), "attention", "scheduling is off");
    facts.state.scheduling->at(0) = true;
    facts.state.now->at(0) = on("GR0", 0, 77);
    EXPECT_VERDICT(lists_are_whole(facts), "attention", "GR0 has TSG 77, which is not on it");
    facts.state.now->at(0) = on("GR0", 0, 1);
    EXPECT_VERDICT(lists_are_whole(facts), "ok", "1 runlist with entries");
    group.truncated = true;
    group.length = 5;
    facts.state.runlists[0] = runlist(0, {group});
    EXPECT_VERDICT(lists_are_whole(facts), "trouble", "TSG 1 announces 5 channels but 2 follow");
    facts.state.runlists[0] = runlist(0, {nvdebug::UnknownEntry{0, {1, 2}}});
    EXPECT_VERDICT(lists_are_whole(facts), "trouble", "entry 0 is neither");
    facts.state.runlists[0] = error(ErrorCode::denied, "may not be read");
    EXPECT_VERDICT(lists_are_whole(facts), "unknown", "may not be read");
}

TEST(Check, UnreadableListsMakeAnswersUnknown) {
    Facts facts = quiet_gpu();
    for (auto &[id, list] : facts.state.runlists) {
        const std::string path = "/proc/gpu0/" + runlist_file(id);
        list = tl::unexpected(
            nvdebug::Error{ErrorCode::denied, 13, path, "cannot read " + path + ": denied"});
    }
    const std::string why = "Not known of runlists 0-2, which cannot be read (R3 has the reason).";
    for (const auto find : {channels_are_the_way_in, channels_limit_streams}) {
        EXPECT_EQ(find(facts).answer, why);
        EXPECT_EQ(find(facts).verdict, Verdict::unknown);
    }
    EXPECT_EQ(lists_are_whole(facts).answer,
              "Not known: cannot read /proc/gpu0/runlist0_brief, runlist1_brief, runlist2_brief: "
              "denied.");
    EXPECT_EQ(lists_are_whole(facts).verdict, Verdict::unknown);
    EXPECT_VERDICT(runlists_serve_several_engines(facts), "unknown", why);
    facts.state.runlists[1] = runlist(1, {});
    EXPECT_VERDICT(channels_are_the_way_in(facts), "unknown", "None of the runlists that could");
    EXPECT_VERDICT(lists_are_whole(facts), "unknown", "runlist0_brief, runlist2_brief: denied");
    EXPECT_VERDICT(runlists_serve_several_engines(facts), "unknown", "Not known of runlists 0, 2,");
    facts.state.runlists.clear();
    EXPECT_VERDICT(channels_are_the_way_in(facts), "unknown", "no runlists are shown");
    facts = quiet_gpu();
    facts.state.engines = error(ErrorCode::io, "device_info: bad");
    EXPECT_EQ(channels_limit_streams(facts).answer, "Not known: device_info: bad.");
}

TEST(Check, DoesNotTrustATornList) {
    Facts facts = quiet_gpu();
    auto group = tsg(1, channels(0, 2));
    group.truncated = true;
    group.channels[0].error = "channel id out of range";
    facts.copy->lces[3].pces = 0;
    for (const bool torn : {false, true}) {
        for (std::uint32_t id : {0, 2}) {
            facts.state.runlists[id] = runlist(id, {group, nvdebug::UnknownEntry{3, {1, 2}}});
            facts.state.runlists[id]->torn = torn;
        }
        const char *const wanted = torn ? "unknown" : "trouble";
        EXPECT_VERDICT(lists_are_whole(facts), wanted, "entry 3 is neither");
        EXPECT_VERDICT(channels_are_the_way_in(facts), wanted, "no such channel: 0");
        EXPECT_EQ(copy_engines_share_physical_ones(facts).verdict == Verdict::trouble, !torn);
    }
}

TEST(Check, R4NamesActiveTasksAndCountsMpsClientsAsOne) {
    Facts facts = quiet_gpu();
    EXPECT_VERDICT(one_task_per_engine(facts), "ok", "3 on runlist 0 (GR0, LCE0, LCE1)");
    EXPECT_VERDICT(one_task_per_engine(facts), "ok", "Active now: none");
    facts.state.now->at(3) = on("LCE2", 1, 4);
    EXPECT_VERDICT(one_task_per_engine(facts), "ok", "runlist 1: TSG 4 on LCE2");
    facts.state.spaces = std::vector{use(0, 1, 0x1000, 0, {0}, 2), use(0, 1, 0x2000, 1, {1}, 2)};
    EXPECT_VERDICT(one_task_per_engine(facts), "note", "TSG 1 on runlist 0 has 2 address");
    facts.state.spaces->clear();
    facts.state.now->at(0).status.reset();
    EXPECT_VERDICT(one_task_per_engine(facts), "unknown", "The task on GR0 is not public");
    facts.state.now = error(ErrorCode::denied, "engines: denied");
    EXPECT_VERDICT(one_task_per_engine(facts), "unknown", "engines: denied");
}

TEST(Check, R5CountsIndependentRunlists) {
    Facts facts = quiet_gpu();
    EXPECT_VERDICT(runlists_limit_independence(facts), "note", "2, though there are 3 runlists");
    facts.copy->lces[1].shares.reset();
    EXPECT_VERDICT(runlists_limit_independence(facts), "ok", "3, as many as there are runlists");
    facts.state.runlists[1] = runlist(1, {tsg(1, channels(0, 1)), tsg(2, channels(1, 1))});
    EXPECT_VERDICT(runlists_limit_independence(facts), "note", "2 on runlist 1");
    facts.state.runlists[1] = runlist(1, {tsg(1, channels(0, 1)), tsg(2, {channel(1, false)})});
    EXPECT_VERDICT(runlists_limit_independence(facts), "ok", "3, as many");
    facts.state.engines->at(4).pbdmas = {1};
    EXPECT_VERDICT(runlists_limit_independence(facts), "note", "Runlists 1, 2 are fed by one");
    EXPECT_VERDICT(runlists_limit_independence(facts), "note", "2, though there are 3 runlists");
    facts.state.engines->at(4).pbdmas = {2};
    facts.copy->lces[3].pces = 0;
    EXPECT_VERDICT(
        runlists_limit_independence(facts), "ok",
        "2, though there are 3 runlists. Nothing can run on runlist 2, whose only engines");
    facts.copy = error(ErrorCode::unsupported, "not public");
    EXPECT_VERDICT(runlists_limit_independence(facts), "unknown", "may be fewer");
}

TEST(Check, R6CountsTasksThatShareARunlist) {
    Facts facts = quiet_gpu();
    EXPECT_VERDICT(runlists_serve_several_engines(facts), "ok", "GR0, LCE0, LCE1 (runlist 0)");
    facts.state.runlists[0] = runlist(0, {tsg(1, channels(0, 1)), tsg(2, channels(1, 1))});
    EXPECT_VERDICT(runlists_serve_several_engines(facts), "note", "2 on runlist 0");
}

TEST(Check, R7FindsAnEngineOnTwoRunlists) {
    Facts facts = quiet_gpu();
    EXPECT_VERDICT(engines_have_one_runlist(facts), "ok", "Yes, each of 5 engines");
    facts.state.now->at(3).runlist = 2;
    EXPECT_VERDICT(engines_have_one_runlist(facts), "trouble", "LCE2 on 1 and 2");
}

TEST(Check, R8NamesContentionAndEnginesThatCannotCopy) {
    Facts facts = quiet_gpu();
    EXPECT_VERDICT(copy_engines_share_physical_ones(facts), "note", "LCE1, LCE2 contend for PCE 0");
    facts.copy->lces[1].shares.reset();
    EXPECT_VERDICT(copy_engines_share_physical_ones(facts), "ok", "unable to copy now: LCE1");
    facts.copy->lces[3].pces = 0;
    EXPECT_VERDICT(copy_engines_share_physical_ones(facts), "ok", "LCE1, LCE3");
    facts.state.runlists[2] = runlist(2, {tsg(1, channels(0, 1))});
    EXPECT_VERDICT(copy_engines_share_physical_ones(facts), "trouble", "wait on its runlist: LCE3");
    facts.copy = error(ErrorCode::unsupported, "not public");
    EXPECT_VERDICT(copy_engines_share_physical_ones(facts), "unknown", "No public register");
    for (nvdebug::Engine &each : *facts.state.engines)
        each.type = "COPY0";
    EXPECT_VERDICT(copy_engines_share_physical_ones(facts), "ok", "physical ones on this chip");
    facts.copy = error(ErrorCode::io, "copy_topology: bad");
    EXPECT_VERDICT(copy_engines_share_physical_ones(facts), "unknown", "copy_topology: bad");
}

TEST(Check, AbsentFilesAreNoErrors) {
    Facts facts = quiet_gpu();
    EXPECT_TRUE(errors_of(facts).empty());
    facts.copy = error(ErrorCode::unsupported, "not public");
    EXPECT_TRUE(errors_of(facts).empty());
    facts.state.runlists[0]->torn = true;
    facts.state.spaces = error(ErrorCode::denied, "contexts: denied");
    EXPECT_EQ(errors_of(facts).size(), 2u);
}
