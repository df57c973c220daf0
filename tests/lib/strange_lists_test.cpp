// SPDX-License-Identifier: MIT OR GPL-2.0
// Parses lists that no driver should build, and values that are hidden from this reader.
#include <gtest/gtest.h>

#include "boxes.hpp"
#include "fixture.hpp"

using namespace nvdebug;
using fixture::value;

namespace {

TEST(StrangeList, EveryKindOfEntry) {
    const Runlist list = value(parse_runlist(
        boxes::list(1, 2, 1) + boxes::tsg(7, "1.024", 3, {{"Truncated", "1 of 3"}}) +
        boxes::box(2, "Channel Info 9000",
                   {{"Error", "channel id out of range"}, {"Runqueue", "1"}}) +
        boxes::box(0, "Unknown Entry 2", {{"Word 0", "0xdead"}, {"Word 1", "0x00000001"}}) +
        boxes::channel(3, "1", 0)));
    ASSERT_EQ(list.items.size(), 3U);
    const Tsg &tsg = std::get<Tsg>(list.items[0]);
    EXPECT_TRUE(tsg.truncated);
    EXPECT_EQ(tsg.timeslice_ns, 1024U);
    ASSERT_EQ(tsg.channels.size(), 1U);
    EXPECT_EQ(tsg.channels[0].error, "channel id out of range");
    EXPECT_EQ(tsg.channels[0].enabled, std::nullopt);
    EXPECT_EQ(tsg.channels[0].runqueue, 1U);
    const auto &unknown = std::get<UnknownEntry>(list.items[1]);
    EXPECT_EQ(unknown.index, 2U);
    EXPECT_EQ(unknown.words, (std::vector<std::uint32_t>{0xdead, 1}));
    EXPECT_EQ(std::get<Channel>(list.items[2]).id, 3U);
    const auto channels = channels_of(list);
    ASSERT_EQ(channels.size(), 2U);
    EXPECT_EQ(channels[0].tsg, &tsg);
    EXPECT_EQ(channels[1].tsg, nullptr);
}

TEST(StrangeList, CountsRepeatedEntriesOnce) {
    const std::string five =
        boxes::tsg(5, "10", 2) + boxes::channel(1, "1") + boxes::channel(2, "0");
    const Runlist list = value(parse_runlist(
        boxes::list(3, 8) + five + boxes::tsg(6, "10", 1) + boxes::channel(1, "1") + five +
        boxes::channel(1, "1", 0) + boxes::channel(9, "1", 0) + boxes::channel(9, "0", 0)));
    std::string seen;
    for (const auto &[channel, tsg, entries] : channels_of(list))
        seen += (tsg ? std::to_string(tsg->id) : "-") + ":" + std::to_string(channel->id) + "x" +
                std::to_string(entries) + " ";
    EXPECT_EQ(seen, "5:1x2 5:2x2 6:1x1 -:1x1 -:9x2 ");
    EXPECT_EQ(channels_of(list).back().channel->enabled, true) << "the first entry's state";
    const auto tsgs = tsgs_of(list);
    ASSERT_EQ(tsgs.size(), 2U);
    EXPECT_EQ(tsgs[0].id, 5U);
    EXPECT_EQ(tsgs[0].headers.size(), 2U);
    EXPECT_EQ(tsgs[1].headers.size(), 1U);
}

TEST(StrangeList, MayBeUnreadable) {
    const Runlist list = value(parse_runlist(boxes::box(0, "Runlist 4",
                                                        {{"Entries", "5"},
                                                         {"TSGs", "-"},
                                                         {"Channels", "-"},
                                                         {"Pending", "1"},
                                                         {"Address", "hidden"},
                                                         {"Aperture", "invalid"},
                                                         {"Snapshot", "torn"}})));
    EXPECT_EQ(list.id, 4U);
    EXPECT_EQ(list.tsgs, std::nullopt);
    EXPECT_EQ(list.channels, std::nullopt);
    EXPECT_TRUE(list.pending);
    EXPECT_TRUE(list.torn);
    EXPECT_EQ(list.place, (Place{std::nullopt, Aperture::invalid}));
}

TEST(StrangeList, BlocksThatAreNotPrintedInFull) {
    const Runlist list = value(parse_runlist(
        boxes::list(0, 3) + boxes::channel(1, "1", 0) +
        boxes::box(2, "Instance Block",
                   {{"Page Tables", "2"},
                    {"Page Directory", "hidden"},
                    {"Subcontexts", "-"},
                    {"Context", "not mapped"}}) +
        boxes::channel(2, "1", 0) + boxes::box(2, "Instance Block", {{"Same as Channel", "1"}}) +
        boxes::channel(3, "0", 0) + boxes::box(2, "Instance Block", {{"Error", "not bound"}})));
    const auto channels = channels_of(list);
    ASSERT_EQ(channels.size(), 3U);
    EXPECT_EQ(channels[0].channel->instance->page_directory, Place{});
    EXPECT_EQ(channels[0].channel->instance->context_note, "not mapped");
    EXPECT_EQ(channels[1].channel->instance->same_as_channel, 1U);
    EXPECT_EQ(channels[2].channel->instance->error, "not bound");
}

TEST(StrangeList, AdditionsAreSkipped) {
    const Runlist list = value(
        parse_runlist(boxes::list(1, 1) + boxes::tsg(1, "1", 1, {{"Colour", "green: or blue"}}) +
                      boxes::channel(5, "0") + boxes::box(4, "Something New", {{"Enabled", "2"}}) +
                      boxes::box(0, "Summary", {})));
    EXPECT_EQ(channels_of(list).at(0).channel->id, 5U);
}

} // namespace
