// SPDX-License-Identifier: MIT OR GPL-2.0
// Parses `owners`: which process made a channel.
#include <gtest/gtest.h>

#include "fixture.hpp"

using namespace nvdebug;

namespace {

const std::string counts = "hidden: 1\ndenied: 2\nended: 3\nrefused: 4\n\n";
const std::string header =
    "# pid command cgroup client tsg timeslice_us channel address aperture\n";
const std::string row =
    "557 my\\x20task /a\\x5cb 0xc1d0002e 0x5c000015 2048 0x5c00001c 0x3850000 vid\n";

TEST(Owners, AreRead) {
    const auto owners = fixture::value(
        parse_owners(counts + header + row + "600 - - - - - - - -\n557 - - 0x1 - - 0x2 - -\n"));
    EXPECT_EQ(owners.hidden, 1U);
    EXPECT_EQ(owners.denied, 2U);
    EXPECT_EQ(owners.ended, 3U);
    EXPECT_EQ(owners.refused, 4U);
    ASSERT_EQ(owners.processes.size(), 2U);
    EXPECT_EQ(owners.processes[0].command, "my task");
    EXPECT_EQ(owners.processes[0].cgroup, "/a\\b");
    EXPECT_EQ(owners.processes[1].pid, 600U);
    EXPECT_EQ(owners.processes[1].command, std::nullopt);
    ASSERT_EQ(owners.channels.size(), 2U);
    const OwnedChannel &channel = owners.channels[0];
    EXPECT_EQ(channel.client, 0xc1d0002eU);
    EXPECT_EQ(channel.tsg, 0x5c000015U);
    EXPECT_EQ(channel.channel, 0x5c00001cU);
    EXPECT_EQ(channel.timeslice_ns, 2'048'000U);
    EXPECT_EQ(channel.instance_place, (Place{0x3850000, Aperture::video}));
    EXPECT_EQ(owners.channels[1].tsg, std::nullopt);
}

TEST(Owners, HaveAUserInNewerTexts) {
    std::string columns = header;
    columns.insert(columns.size() - 1, " uid");
    const std::string start = row.substr(0, row.size() - 1);
    EXPECT_EQ(parse_owners(counts + columns + start + " 1000\n")->processes[0].uid, 1000U);
    EXPECT_EQ(parse_owners(counts + columns + start + " -\n")->processes[0].uid, std::nullopt);
    EXPECT_EQ(parse_owners(counts + header + row)->processes[0].uid, std::nullopt);
    EXPECT_FALSE(parse_owners(counts + columns + start + " me\n"));
    EXPECT_FALSE(parse_owners(counts + columns + row));
}

TEST(Owners, MayBeNone) {
    EXPECT_TRUE(parse_owners(counts + header)->processes.empty());
}

TEST(Owners, AreReadFromANewerLibrary) {
    const std::string newer = "hidden: 1\ndenied: 2\nended: 3\nrefused: 4\nmore: 5\n\n";
    std::string columns = header;
    columns.insert(columns.size() - 1, " more");
    EXPECT_TRUE(parse_owners(newer + columns + row.substr(0, row.size() - 1) + " 6\n"));
}

TEST(Owners, AreMalformed) {
    for (const std::string &text :
         {std::string(), header + row, counts, counts + row, counts.substr(10) + header + row,
          counts + header + "x" + row, counts + header + "557\n",
          counts + header + "557 a\\b - - - - - - -\n",
          counts + header + "557 - - - - 9999999999 - - -\n",
          counts + header + "557 - - - - - - 0x1 moon\n"}) {
        const auto owners = parse_owners(text);
        ASSERT_FALSE(owners) << text;
        EXPECT_EQ(owners.error().code, ErrorCode::malformed);
        EXPECT_NE(owners.error().sentence, "");
    }
}

Channel channel_at(std::optional<std::uint64_t> address, Aperture aperture = Aperture::video) {
    Channel channel{};
    channel.instance_place = {address, aperture};
    return channel;
}

TEST(Owners, AreWhoHasTheSamePlace) {
    const auto owners = fixture::value(parse_owners(counts + header + row));
    ASSERT_NE(owner_of(owners, channel_at(0x3850000)), nullptr);
    EXPECT_EQ(owner_of(owners, channel_at(0x3850000))->pid, 557U);
    EXPECT_EQ(owner_of(owners, channel_at(0x3851000)), nullptr);
    EXPECT_EQ(owner_of(owners, channel_at(0x3850000, Aperture::coherent)), nullptr);
    EXPECT_EQ(owner_of(owners, channel_at(std::nullopt)), nullptr);
    const Owners none;
    EXPECT_EQ(owner_of(none, channel_at(0x3850000)), nullptr);
}

TEST(Owners, AreTheSameByPidAndStart) {
    const Process first{7, "a", {}, {}, 100}, again{7, "b", {}, {}, 100},
        later{7, "a", {}, {}, 200}, unknown{7, "a", {}}, other{8, "a", {}, {}, 100};
    EXPECT_TRUE(same_process(first, again)) << "it runs another program";
    EXPECT_FALSE(same_process(first, later));
    EXPECT_FALSE(same_process(first, other));
    EXPECT_TRUE(same_process(first, unknown) && same_process(unknown, later));
}

TEST(Owners, HaveAStartInNewerTexts) {
    std::string columns = header;
    columns.insert(columns.size() - 1, " uid started");
    const std::string start = row.substr(0, row.size() - 1);
    EXPECT_EQ(parse_owners(counts + columns + start + " 0 77\n")->processes[0].started, 77U);
    EXPECT_EQ(parse_owners(counts + header + row)->processes[0].started, std::nullopt);
}

TEST(Owners, HaveALauncherInNewerTexts) {
    std::string columns = header;
    columns.insert(columns.size() - 1, " uid started launcher");
    const std::string start = row.substr(0, row.size() - 1);
    EXPECT_EQ(parse_owners(counts + columns + start + " 0 77 70\n")->processes[0].launcher, 70U);
    EXPECT_EQ(parse_owners(counts + columns + start + " 0 77 -\n")->processes[0].launcher,
              std::nullopt);
    EXPECT_EQ(parse_owners(counts + header + row)->processes[0].launcher, std::nullopt);
}

TEST(Owners, AreOfTheDriverAlone) {
    const fixture::Board board("a100");
    const auto owners = board.gpu().owners();
    ASSERT_FALSE(owners);
    EXPECT_EQ(owners.error().code, ErrorCode::unsupported);
    EXPECT_NE(owners.error().sentence.find("NVIDIA's driver"), std::string::npos);
}

} // namespace
