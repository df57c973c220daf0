// SPDX-License-Identifier: MIT OR GPL-2.0
// Finds the objects of processes, their places in lists, and the selected processes.
#include <gtest/gtest.h>

#include <unistd.h>

#include "boxes.hpp"
#include "fixture.hpp"
#include "lib/base/process.hpp"
#include "nvdebug/task.hpp"

using namespace nvdebug;

namespace {

// --- values ---

TEST(TaskValues, TimeslicesHaveLimits) {
    for (const std::uint64_t ns : {100'000ULL, 101'000ULL, 1'000'000'000ULL})
        EXPECT_TRUE(is_settable_timeslice(ns)) << ns;
    for (const std::uint64_t ns : {0ULL, 99'000ULL, 100'500ULL, 1'000'001'000ULL})
        EXPECT_FALSE(is_settable_timeslice(ns)) << ns;
}

/// Lists hold (timeout << scale) * 1,024 ns, and drivers take a requested microsecond as 1,024 ns
/// or as 1,000 ns.
TEST(TaskValues, TolerancesCoverTheRoundingOfLists) {
    for (std::uint64_t ns = shortest_timeslice_ns; ns <= longest_timeslice_ns; ns += 1 + ns / 1000)
        for (const std::uint64_t unit : {1000U, 1024U}) {
            std::uint64_t timeout = ns / unit, scale = 0;
            for (; timeout > 255; timeout >>= 1)
                scale++;
            const std::uint64_t listed = (timeout << scale) * 1024;
            EXPECT_TRUE(is_about(listed, ns, unchanged_tolerance)) << ns << ", listed: " << listed;
            EXPECT_TRUE(is_about(listed, ns, requested_tolerance)) << ns << ", listed: " << listed;
        }
}

TEST(TaskValues, TolerancesEnd) {
    EXPECT_TRUE(is_about(1'064'548, 1'000'000, requested_tolerance));
    EXPECT_FALSE(is_about(1'064'549, 1'000'000, requested_tolerance));
    EXPECT_TRUE(is_about(935'452, 1'000'000, requested_tolerance));
    EXPECT_FALSE(is_about(935'451, 1'000'000, requested_tolerance));
    EXPECT_TRUE(is_about(1'033'250, 1'000'000, unchanged_tolerance));
    EXPECT_FALSE(is_about(1'033'251, 1'000'000, unchanged_tolerance));
    EXPECT_FALSE(is_about(0, 1'000'000, requested_tolerance));
}

TEST(TaskValues, WordsAreReadAsTheyAreWritten) {
    for (const Interleave level : {Interleave::low, Interleave::medium, Interleave::high})
        EXPECT_EQ(parse_interleave(name_of(level)), level);
    for (const PreemptionMode mode :
         {PreemptionMode::wfi, PreemptionMode::cta, PreemptionMode::cilp})
        EXPECT_EQ(parse_preemption_mode(name_of(mode)), mode);
    EXPECT_STREQ(name_of(Interleave::high), "high");
    EXPECT_STREQ(name_of(PreemptionMode::cta), "cta");
    EXPECT_EQ(parse_interleave("wfi"), std::nullopt);
    EXPECT_EQ(parse_interleave(""), std::nullopt);
    EXPECT_EQ(parse_preemption_mode("WFI"), std::nullopt);
}

// --- objects of processes ---

Process process(std::uint32_t pid, std::optional<std::string> command,
                std::optional<std::string> cgroup = {}) {
    return {pid, std::move(command), std::move(cgroup)};
}

OwnedChannel made(std::uint32_t pid, std::uint32_t client, std::optional<std::uint32_t> tsg,
                  std::uint32_t channel, std::optional<std::uint64_t> address = std::nullopt) {
    return {pid,       client,  tsg,
            2'000'000, channel, address ? Place{address, Aperture::video} : Place{}};
}

/// 7 and 8 have a TSG each, and with MPS also channels in a shared TSG. 9 has a channel in no TSG.
Owners three() {
    Owners owners;
    owners.processes = {process(7, "one"), process(8, "two"), process(9, "th\nree"),
                        process(10, "idle")};
    owners.channels = {made(7, 1, 5, 20, 0x1000), made(7, 1, 5, 21, 0x2000),
                       made(7, 1, 6, 22, 0x3000), made(8, 2, 5, 20, 0x4000),
                       made(8, 2, 6, 21, 0x5000), made(9, 3, {}, 20, 0x6000),
                       made(9, 3, {}, 21)};
    return owners;
}

std::string listed_channel(int id, const std::string &address, std::size_t indent = 2) {
    return boxes::box(
        indent, "Channel Info " + std::to_string(id),
        {{"Enabled", "1"}, {"Instance Block", address}, {"Instance Aperture", "vid"}});
}

/// TSG 0 belongs to 7, TSG 1 is shared by 7 and 8, and TSG 2 belongs to 8 and is listed twice.
/// Channel 9 is bare, and no known process has made channel 10.
std::vector<Runlist> one_list() {
    const std::string twice = boxes::tsg(2, "1000", 1) + listed_channel(4, "0x5000");
    return {fixture::value(
        parse_runlist(boxes::list(4, 8) + boxes::tsg(0, "2000", 2) + listed_channel(0, "0x1000") +
                      listed_channel(1, "0x2000") + boxes::tsg(1, "500", 2) +
                      listed_channel(2, "0x3000") + listed_channel(3, "0x4000") + twice +
                      listed_channel(9, "0x6000", 0) + listed_channel(10, "0x7000", 0) + twice))};
}

TEST(OwnedTsgs, AreWhatAClientMadeInOneTsg) {
    const Owners owners = three();
    const auto of_seven = tsgs_of(owners, 7);
    ASSERT_EQ(of_seven.size(), 2U);
    ASSERT_EQ(of_seven[0].size(), 2U);
    EXPECT_EQ(of_seven[0][1]->channel, 21U);
    EXPECT_EQ(of_seven[1].front()->channel, 22U);
    EXPECT_EQ(tsgs_of(owners, 9).size(), 2U) << "channels in no TSG stand alone";
    EXPECT_TRUE(tsgs_of(owners, 10).empty());
    EXPECT_TRUE(tsgs_of(owners, 4711).empty());
}

TEST(OwnersOnLists, HavePlaces) {
    const OwnersOnLists joined(three(), one_list());
    const Owners &owners = joined.owners();
    const RunlistPlace *const place = joined.place_of(owners.channels[1]);
    ASSERT_NE(place, nullptr);
    EXPECT_EQ(place->runlist, 0U);
    EXPECT_EQ(place->tsg, 0U);
    EXPECT_EQ(place->channel->id, 1U);
    EXPECT_EQ(place->header->timeslice_ns, 2'000'000U);
    const RunlistPlace *const bare = joined.place_of(owners.channels[5]);
    ASSERT_NE(bare, nullptr);
    EXPECT_EQ(bare->tsg, std::nullopt);
    EXPECT_EQ(bare->header, nullptr);
    EXPECT_EQ(joined.place_of(owners.channels[6]), nullptr) << "only root may know where it is";
    EXPECT_EQ(joined.headers_of(tsgs_of(owners, 8)[1]).size(), 2U);
    EXPECT_TRUE(joined.headers_of(tsgs_of(owners, 9)[0]).empty());
}

TEST(OwnersOnLists, StayWhereTheyAreWhenMoved) {
    OwnersOnLists first(three(), one_list());
    const OwnedChannel *const channel = &first.owners().channels[0];
    const OwnersOnLists joined(std::move(first));
    EXPECT_EQ(&joined.owners().channels[0], channel);
    ASSERT_NE(joined.place_of(*channel), nullptr);
    EXPECT_EQ(joined.place_of(*channel)->channel->id, 0U);
}

TEST(OwnersOnLists, AreJoinedAgain) {
    OwnersOnLists joined(three());
    EXPECT_EQ(joined.place_of(joined.owners().channels[0]), nullptr);
    joined.update(one_list());
    EXPECT_NE(joined.place_of(joined.owners().channels[0]), nullptr);
    joined.update({});
    EXPECT_EQ(joined.place_of(joined.owners().channels[0]), nullptr);
}

TEST(OwnersOnLists, AreNotGuessedWhereTwoClaimAChannel) {
    Owners owners = three();
    owners.channels[3].instance_place.address = 0x1000;
    const OwnersOnLists joined(std::move(owners), one_list());
    EXPECT_EQ(joined.place_of(joined.owners().channels[0]), nullptr);
    EXPECT_EQ(joined.place_of(joined.owners().channels[3]), nullptr);
    Channel channel{};
    channel.instance_place = {0x1000, Aperture::video};
    EXPECT_EQ(joined.claimants(channel).size(), 2U);
    channel.instance_place.aperture = Aperture::coherent;
    EXPECT_TRUE(joined.claimants(channel).empty());
}

TEST(OwnersOnLists, HaveTimeslices) {
    const OwnersOnLists joined(three(), one_list());
    EXPECT_EQ(joined.timeslice_ns(tsgs_of(joined.owners(), 7)[1]), 500'000U)
        << "as the list has it";
    const OwnersOnLists unlisted(three());
    EXPECT_EQ(unlisted.timeslice_ns(tsgs_of(unlisted.owners(), 7)[1]), 2'048'000U)
        << "2,000 units of 1,024 ns";
    EXPECT_EQ(unlisted.timeslice_ns({}), std::nullopt);
}

TEST(OwnersOnLists, ShareTsgs) {
    const OwnersOnLists joined(three(), one_list());
    EXPECT_EQ(joined.sharers({0, 0}), (std::set<std::uint32_t>{7}));
    EXPECT_EQ(joined.sharers({0, 1}), (std::set<std::uint32_t>{7, 8}));
    EXPECT_TRUE(joined.sharers({0, 4}).empty());
    EXPECT_TRUE(joined.sharers({1, 1}).empty());
    const std::vector<std::uint32_t> one = {9, 8}, both = {8, 7}, none = {9};
    const auto shared = joined.shared_with_others(one);
    ASSERT_TRUE(shared);
    EXPECT_EQ(shared->tsg, (Target{0, 1}));
    EXPECT_EQ(shared->named->pid, 8U);
    EXPECT_EQ(shared->other->pid, 7U);
    EXPECT_FALSE(joined.shared_with_others(both));
    EXPECT_FALSE(joined.shared_with_others(none));
}

TEST(OwnersInSentences, AreNamed) {
    EXPECT_EQ(to_string(process(7, "a b\x1b[2J")), "a b?[2J[7]");
    EXPECT_EQ(to_string(process(7, {})), "[7]");
    EXPECT_EQ(describe_owners(three()), "those that have one: one[7], two[8], th?ree[9]");
    EXPECT_EQ(describe_owners({}), "no process that may be asked has one");
    Owners many;
    for (std::uint32_t pid = 1; pid <= 10; pid++) {
        many.processes.push_back(process(pid, "x"));
        many.channels.push_back(made(pid, pid, 1, 1));
    }
    EXPECT_EQ(describe_owners(many),
              "those that have one: x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8] and 2 more");
}

// --- selecting processes ---

using Selected = std::vector<std::uint32_t>;

TEST(TaskSelections, SelectNothingIfNothingIsGiven) {
    EXPECT_TRUE(TaskSelection{}.empty());
    EXPECT_FALSE(is_selected({}, process(7, "one")));
    EXPECT_EQ(select({}, three()), Selected{});
}

TEST(TaskSelections, SelectWhatHasChannels) {
    EXPECT_EQ(select({.pids = {10, 8, 7}}, three()), (Selected{7, 8}))
        << "the oldest first; 10 has none";
    EXPECT_EQ(select({.command = "two"}, three()), Selected{8});
    EXPECT_EQ(select({.command = "idle"}, three()), Selected{});
    EXPECT_EQ(select({.pids = {7}, .command = "two"}, three()), Selected{}) << "both are to hold";
}

TEST(TaskSelections, AreByContainerPodAndCgroup) {
    const std::string id = "3f2a" + std::string(60, 'b'),
                      pod = "0f5a1c2e-1111-4222-8333-abcdefabcdef";
    const Process pod_process{7, "x", "/kubepods/pod" + pod + "/" + id};
    EXPECT_TRUE(is_selected({.container = "3f2a"}, pod_process));
    EXPECT_FALSE(is_selected({.container = "3f2b"}, pod_process));
    EXPECT_FALSE(is_selected({.container = ""}, {7, "x", "/user.slice"})) << "it is in none";
    EXPECT_TRUE(is_selected({.pod = pod}, pod_process));
    EXPECT_TRUE(is_selected({.pod = "0f5a"}, pod_process)) << "as with containers";
    EXPECT_FALSE(is_selected({.pod = pod.substr(1)}, pod_process));
    EXPECT_FALSE(is_selected({.pod = ""}, {7, "x", "/user.slice"})) << "it is in none";
    for (const std::string &path : {std::string("/kubepods"), std::string("/kubepods/"),
                                    std::string("/"), *pod_process.cgroup})
        EXPECT_TRUE(is_selected({.cgroup = path}, pod_process)) << path;
    for (const std::string path : {"/kube", "/kubepods/pod", "kubepods"})
        EXPECT_FALSE(is_selected({.cgroup = path}, pod_process)) << path;
    EXPECT_FALSE(is_selected({.cgroup = "/a"}, {7, "x", {}}));
}

TEST(TaskSelections, MayBeAGroup) {
    EXPECT_TRUE(TaskSelection{.container = "a"}.is_group());
    EXPECT_TRUE(TaskSelection{.ancestor = 7}.is_group());
    EXPECT_FALSE((TaskSelection{.pids = {7, 8}, .command = "x"}.is_group()));
}

TEST(TaskSelections, AreByJob) {
    const Process process{7, "x", "/slurm/uid_1000/job_42/step_0"};
    for (const char *const job : {"42", "42.0"})
        EXPECT_TRUE(is_selected({.job = job}, process)) << job;
    for (const char *const job : {"", ".", "4", "42.", "42.1", "42.00", "42.0.0", ".0", "42 "})
        EXPECT_FALSE(is_selected({.job = job}, process)) << job;
    EXPECT_TRUE(is_selected({.job = "42.batch"},
                            {7, "x", "/system.slice/slurmstepd.scope/job_42/step_batch/user"}));
    EXPECT_FALSE(is_selected({.job = "42."}, {7, "x", "/slurm/uid_1000/job_42"}));
    EXPECT_FALSE(is_selected({.job = "42"}, {7, "x", "/user.slice"}));
}

TEST(TaskSelections, AreByAncestor) {
    const auto own = static_cast<std::uint32_t>(::getpid()),
               parent = static_cast<std::uint32_t>(::getppid());
    EXPECT_EQ(parent_of(own), parent);
    EXPECT_EQ(parent_of(1), 0U);
    EXPECT_EQ(parent_of(~0U), std::nullopt);
    EXPECT_TRUE(descends_from(own, own));
    EXPECT_TRUE(descends_from(own, parent));
    EXPECT_TRUE(descends_from(own, 1));
    EXPECT_FALSE(descends_from(parent, own));
    EXPECT_FALSE(descends_from(~0U, own));
    EXPECT_TRUE(is_selected({.ancestor = parent}, process(own, "x")));
    EXPECT_FALSE(is_selected({.ancestor = own}, process(parent, "x")));
}

TEST(ProcessStat, HasFieldsBehindAnyName) {
    const std::string stat = "7 (a) b) S 5 7 7 0 -1\n";
    EXPECT_EQ(base::stat_field(stat, 3), "S");
    EXPECT_EQ(base::stat_field(stat, 4), "5");
    EXPECT_EQ(base::stat_field(stat, 8), "-1");
    EXPECT_EQ(base::stat_field(stat, 9), "");
    EXPECT_EQ(base::stat_field("7 (a", 3), "");
    EXPECT_EQ(base::stat_field("", 3), "");
}

} // namespace
