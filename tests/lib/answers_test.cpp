// SPDX-License-Identifier: MIT OR GPL-2.0
// Compares answers.hpp with cases that were worked out by hand.
#include <gtest/gtest.h>

#include "boxes.hpp"
#include "fixture.hpp"

using namespace nvdebug;
using fixture::Board;
using fixture::value;

namespace {

Engine engine(const std::string &type, std::uint32_t instance,
              std::optional<std::uint32_t> runlist) {
    Engine made{};
    made.type = type;
    made.instance = instance;
    made.name = type + std::to_string(instance);
    made.runlist = runlist;
    return made;
}

TEST(Engines, AreGroupedByRunlist) {
    const auto engines = value(Board("titan-v").gpu().engines());
    const auto by_runlist = engines_by_runlist(engines);
    EXPECT_EQ(by_runlist.size(), 13U);
    ASSERT_EQ(by_runlist.at(0).size(), 3U);
    EXPECT_EQ(by_runlist.at(0)[0]->name, "GR0");
    EXPECT_EQ(by_runlist.at(0)[2]->name, "LCE1");
    EXPECT_EQ(by_runlist.at(6).size(), 1U);
}

TEST(Engines, AreLeftOutWithoutARunlist) {
    const auto engines = value(Board("a100").gpu().engines());
    EXPECT_EQ(engines_by_runlist(engines).size(), 24U);
    EXPECT_FALSE(share_runlist(engine("GSP", 0, {}), engine("GSP", 1, {})));
}

TEST(Engines, AreFoundByName) {
    const std::vector<Engine> engines = {engine("GR", 0, 0), engine("LCE", 0, 0),
                                         engine("LCE", 1, 0), engine("LCE", 2, 1)};
    EXPECT_EQ(find_engine(engines, "LCE2"), &engines[3]);
    EXPECT_EQ(find_engine(engines, "GR"), &engines[0]);
    EXPECT_EQ(find_engine(engines, "lce2"), &engines[3]);
    EXPECT_EQ(find_engine(engines, "gr"), &engines[0]);
    EXPECT_EQ(find_engine(engines, "LCE"), nullptr);
    EXPECT_EQ(find_engine(engines, "LCE3"), nullptr);
    EXPECT_EQ(find_engine(engines, ""), nullptr);
    EXPECT_TRUE(share_runlist(engines[0], engines[2]));
    EXPECT_FALSE(share_runlist(engines[0], engines[3]));
}

/// Returns contention as text: `0x20: LCE0 LCE3`.
std::vector<std::string> contention(const CopyTopology &copy) {
    std::vector<std::string> lines;
    for (const CopyContention &one : copy_contention(copy)) {
        std::string line = std::to_string(one.pces) + ":";
        for (const std::string &lce : one.lces)
            line += " " + lce;
        lines.push_back(line);
    }
    return lines;
}

// Table IV of Bakita and Anderson, RTAS 2024: GRCE0 of the RTX 6000 Ada shares the PCE of LCE3, and
// GRCE1 that of LCE2.
TEST(Copy, FindsContentionOnAnRtx6000Ada) {
    const Board board("rtx6000-ada");
    const CopyTopology copy = value(board.gpu().copy_topology());
    EXPECT_EQ(contention(copy), (std::vector<std::string>{"16: LCE1 LCE2", "32: LCE0 LCE3"}));
    EXPECT_EQ(pces_of(copy, copy.lces[0]), 0x20U);
    EXPECT_EQ(pces_of(copy, copy.lces[4]), 0x01U);

    const RunlistGroups groups = independent_runlists(value(board.gpu().engines()), &copy);
    EXPECT_TRUE(groups.copy_known);
    ASSERT_EQ(groups.groups.size(), 14U); // of 16 runlists, two depend on runlist 0
    EXPECT_EQ(groups.groups[0], (std::vector<std::uint32_t>{0, 1, 2}));
    EXPECT_EQ(groups.groups[1], std::vector<std::uint32_t>{3});
}

TEST(Copy, GrcesWithPcesOfTheirOwnContendWithNobody) {
    const Board board("titan-v");
    const CopyTopology copy = value(board.gpu().copy_topology());
    EXPECT_TRUE(copy_contention(copy).empty());
    EXPECT_EQ(independent_runlists(value(board.gpu().engines()), &copy).groups.size(), 13U);
}

using Groups = std::vector<std::vector<std::uint32_t>>;

// LCE0 and LCE1 (runlist 0) borrow from LCE2 (5) and LCE3 (6). NVDEC, NVENC and SEC share PBDMA 1.
TEST(Independent, Gtx1060HasGroupsBySharedPbdmasAndPces) {
    const Board board("gtx1060-3gb");
    const auto engines = value(board.gpu().engines());
    const auto shared = shared_pbdmas(engines);
    ASSERT_EQ(shared.size(), 1U);
    EXPECT_EQ(shared[0].pbdma, 1U);
    EXPECT_EQ(shared[0].runlists, (std::vector<std::uint32_t>{1, 2, 3}));
    const CopyTopology copy = value(board.gpu().copy_topology());
    EXPECT_EQ(independent_runlists(engines, &copy).groups, (Groups{{0, 5, 6}, {1, 2, 3}}));
    EXPECT_EQ(independent_runlists(engines, nullptr).groups, (Groups{{0}, {1, 2, 3}, {5}, {6}}));
    EXPECT_TRUE(shared_pbdmas(value(Board("titan-v").gpu().engines())).empty());
}

TEST(Independent, ARunlistWhoseEnginesCannotCopyIsInNone) {
    CopyTopology copy{0x3, {{"LCE0", 0, 0, {}}, {"LCE1", 1, 0x1, {}}, {"LCE2", 2, 0, {}}}};
    const std::vector<Engine> engines = {engine("GR", 0, 0), engine("LCE", 0, 0),
                                         engine("LCE", 1, 1), engine("LCE", 2, 2)};
    const RunlistGroups groups = independent_runlists(engines, &copy);
    EXPECT_EQ(groups.groups, (Groups{{0}, {1}}));
    EXPECT_EQ(groups.unable, std::vector<std::uint32_t>{2});
    copy.lces[2].shares = "LCE1";
    EXPECT_EQ(independent_runlists(engines, &copy).groups, (Groups{{0}, {1, 2}}));
    EXPECT_TRUE(independent_runlists(engines, &copy).unable.empty());
    EXPECT_EQ(independent_runlists(engines, nullptr).groups.size(), 3U);
}

TEST(Copy, SeveralPcesAndBorrowers) {
    const CopyTopology copy{0xf,
                            {{"LCE0", 0, 0, "LCE2"},
                             {"LCE1", 0, 0, "LCE2"},
                             {"LCE2", 1, 0x3, {}},
                             {"LCE3", 2, 0x6, {}},
                             {"LCE4", 3, 0x8, {}},
                             {"LCE5", {}, 0, "LCE9"}}};
    EXPECT_EQ(contention(copy),
              (std::vector<std::string>{"1: LCE0 LCE1 LCE2", "2: LCE0 LCE1 LCE2 LCE3"}));
    EXPECT_EQ(pces_of(copy, copy.lces[5]), 0U);
    const std::vector<Engine> engines = {engine("GR", 0, 0), engine("NVDEC", 0, 7)};
    EXPECT_EQ(independent_runlists(engines, &copy).groups,
              (std::vector<std::vector<std::uint32_t>>{{0, 1, 2}, {3}, {7}}));
}

// A B200 has no line for the LCEs of its second unit.
TEST(Copy, AnLceWithoutALine) {
    const CopyTopology copy{0x3, {{"LCE0", 0, 0x1, {}}, {"LCE1", 1, 0x2, {}}}};
    std::vector<Engine> engines = {engine("GR", 0, 0), engine("LCE", 0, 0), engine("LCE", 1, 1)};
    EXPECT_TRUE(independent_runlists(engines, &copy).copy_known);
    engines.push_back(engine("LCE", 2, 4));
    EXPECT_FALSE(independent_runlists(engines, &copy).copy_known);
}

TEST(Copy, UnknownWiring) {
    const std::vector<Engine> engines = {engine("GR", 0, 0), engine("LCE", 0, 0),
                                         engine("LCE", 1, 4)};
    const RunlistGroups groups = independent_runlists(engines, nullptr);
    EXPECT_FALSE(groups.copy_known);
    EXPECT_EQ(groups.groups, (std::vector<std::vector<std::uint32_t>>{{0}, {4}}));
}

TEST(Mps, TsgsWithSeveralAddressSpaces) {
    const auto uses = value(Board("titan-v", "fig7").gpu().address_spaces());
    const auto shared = shared_tsgs(uses);
    ASSERT_EQ(shared.size(), 1U);
    EXPECT_EQ(shared[0].runlist, 0U);
    EXPECT_EQ(shared[0].tsg, 1U);
    EXPECT_EQ(shared[0].spaces, 3U);
    ASSERT_EQ(shared[0].uses.size(), 3U);
    EXPECT_EQ(shared[0].uses[2], &uses[3]);
}

TEST(Mps, SameIdOnTwoRunlists) {
    AddressSpaceUse use{};
    use.tsg = 1;
    use.shared = true;
    use.spaces = 2;
    AddressSpaceUse other = use;
    other.runlist = 3;
    const std::vector uses{use, other, use};
    EXPECT_EQ(shared_tsgs(uses).size(), 2U);
}

/// Returns the shares of a list as text: `7=0.5`, and `-` for an unknown share.
std::string shares(const std::string &text) {
    std::string line;
    for (const TsgShare &share : expected_shares(value(parse_runlist(text))))
        line += std::to_string(share.tsg) + "=" +
                (share.share ? std::to_string(*share.share).substr(0, 5) : "-") + " ";
    return line;
}

std::string tsg(int id, const std::string &us, const std::string &enabled) {
    return boxes::tsg(id, us, 1) + boxes::channel(id, enabled);
}

TEST(Shares, TwoToOneAndOneThatMayNotRun) {
    EXPECT_EQ(
        shares(boxes::list(3, 3) + tsg(1, "2000", "1") + tsg(2, "1000", "1") + tsg(3, "9000", "0")),
        "1=0.666 2=0.333 3=0.000 ");
}

TEST(Shares, OneEnabledChannelIsEnough) {
    EXPECT_EQ(shares(boxes::list(2, 3) + boxes::tsg(1, "10", 2) + boxes::channel(1, "0") +
                     boxes::channel(2, "1") + tsg(3, "30", "1")),
              "1=0.250 3=0.750 ");
}

TEST(Shares, AreZeroIfNoTsgMayRun) {
    EXPECT_EQ(shares(boxes::list(2, 1) + tsg(1, "10", "0") + boxes::tsg(2, "10", 0)),
              "1=0.000 2=0.000 ");
}

TEST(Shares, BareChannelsHaveATimesliceThatNobodySees) {
    const std::string list = boxes::list(1, 2) + tsg(1, "10", "1");
    EXPECT_EQ(shares(list + boxes::channel(9, "1", 0)), "1=- ");
    EXPECT_EQ(shares(list + boxes::channel(9, "0", 0)), "1=1.000 ");
}

TEST(Shares, AreEmptyWhereUnknown) {
    EXPECT_EQ(shares(boxes::list(1, 1, 0, "torn") + tsg(1, "10", "1")), "1=- ");
    EXPECT_EQ(shares(boxes::list(2, 2) + tsg(1, "10", "1") + boxes::tsg(2, "10", 1) +
                     boxes::box(2, "Channel Info 9", {{"Error", "channel id out of range"}})),
              "1=- 2=- ");
    EXPECT_EQ(
        shares(boxes::list(1, 1, 1) + tsg(1, "10", "1") + boxes::box(0, "Unknown Entry 2", {})),
        "1=- ");
}

// TSG 10 is listed twice, so it has 2 * 1998.848 of 2 * 1998.848 + 1048.576 + 999.424 + 1.024.
TEST(Shares, ListedTwice) {
    const auto all = expected_shares(value(Board("a100", "mixed").gpu().runlist(0, Detail::brief)));
    ASSERT_EQ(all.size(), 4U);
    EXPECT_EQ(all[0].tsg, 10U);
    EXPECT_EQ(all[0].headers, 2U);
    EXPECT_EQ(all[0].timeslice_ns, 1998848U);
    ASSERT_TRUE(all[0].share);
    EXPECT_NEAR(*all[0].share, 0.661135, 1e-6);
    EXPECT_EQ(all[1].headers, 1U);
}

} // namespace
