// SPDX-License-Identifier: MIT OR GPL-2.0
#include <gtest/gtest.h>

#include "cli/json.hpp"
#include "cli/output.hpp"
#include "cli/page.hpp"
#include "cli/text.hpp"
#include "objects/runlist_tree.hpp"
#include "objects/tree_picture.hpp"
#include "state.hpp"
#include "state/tree.hpp"

using namespace nvdebugctl;
using namespace nvdebugctl::tests;

namespace {

std::string text_of(const State &state, std::optional<std::size_t> width = std::nullopt,
                    bool unicode = false) {
    Page page(false);
    print_tree(state, make_tree(state), false, {unicode, width}, page);
    return page.text();
}

} // namespace

TEST(Ids, FoldsRuns) {
    const auto fold = [](std::vector<std::uint32_t> ids) { return fold_ids(ids); };
    EXPECT_EQ(fold({}), "");
    EXPECT_EQ(fold({7}), "7");
    EXPECT_EQ(fold({0, 1, 2, 3, 9, 20, 21}), "0-3, 9, 20, 21");
    EXPECT_EQ(fold({3, 2, 1}), "3, 2, 1");
}

TEST(Words, BreaksAtBlanks) {
    EXPECT_EQ(break_lines("aa bb cc", 5), (std::vector<std::string>{"aa bb", "cc"}));
    EXPECT_EQ(break_lines("a-long-word b", 5), (std::vector<std::string>{"a-long-word", "b"}));
    EXPECT_TRUE(break_lines("", 5).empty());
}

TEST(Tree, HasTwoHeadersOfATsgAsOneWithTwoTurns) {
    State state = quiet_gpu().state;
    state.runlists[0] = runlist(0, {tsg(5, {channel(1)}, 2'000'000), tsg(6, {channel(2)}),
                                    tsg(5, {channel(1)}, 2'000'000)});
    const RunlistView view = make_tree(state).front();
    ASSERT_EQ(view.tsgs.size(), 2u);
    EXPECT_EQ(view.tsgs[0].headers, 2u);
    EXPECT_EQ(channel_count(view.tsgs[0]), 1u);
    ASSERT_TRUE(view.tsgs[0].share);
    EXPECT_NEAR(*view.tsgs[0].share, 0.8, 1e-9);
    EXPECT_EQ(view.round, 5'000'000u);
    EXPECT_EQ(view.turns.size(), 3u);
}

TEST(Tree, ATsgWithoutEnabledChannelsHasNoTurn) {
    State state = quiet_gpu().state;
    state.runlists[0] = runlist(0, {tsg(5, {channel(1)}), tsg(6, {channel(2, false)})});
    const RunlistView view = make_tree(state).front();
    EXPECT_EQ(view.turns.size(), 1u);
    EXPECT_EQ(view.tsgs[1].may_run, false);
    EXPECT_EQ(view.tsgs[1].share, 0.0);
}

TEST(Tree, ABareChannelLeavesTheSharesUnsaid) {
    State state = quiet_gpu().state;
    state.runlists[0] = runlist(0, {tsg(5, {channel(1)}), channel(9)});
    const RunlistView view = make_tree(state).front();
    ASSERT_EQ(view.tsgs.size(), 2u);
    EXPECT_FALSE(view.tsgs[1].id);
    EXPECT_FALSE(view.tsgs[0].share);
    EXPECT_FALSE(view.round);
    EXPECT_NE(text_of(state).find("channel 9 (no TSG)"), std::string::npos);
}

TEST(Tree, ChannelsAreBelowTheirAddressSpaces) {
    State state = quiet_gpu().state;
    state.runlists[0] = runlist(0, {tsg(5, {channel(1), channel(2), channel(3), channel(4)})});
    state.spaces = std::vector{use(0, 5, 0x1000, 0, {1}, 2), use(0, 5, 0x2000, 1, {2}, 2),
                               use(0, 5, 0x1000, 2, {3}, 2)};
    const TsgView tsg = make_tree(state).front().tsgs.front();
    EXPECT_EQ(tsg.shared, true);
    ASSERT_EQ(tsg.spaces.size(), 3u);
    EXPECT_EQ(tsg.spaces[0].veids, (std::vector<std::uint32_t>{0, 2}));
    EXPECT_EQ(tsg.spaces[0].channels.size(), 2u);
    EXPECT_EQ(tsg.spaces[1].channels.front()->id, 2u);
    EXPECT_FALSE(tsg.spaces[2].page_directory) << "channel 4 came after contexts was read";
}

TEST(Tree, HiddenAddressesAreNotTakenForEqual) {
    State state = quiet_gpu().state;
    state.runlists[0] = runlist(0, {tsg(5, {channel(1), channel(2)})});
    state.spaces = std::vector{use(0, 5, 0, 0, {1}, 2), use(0, 5, 0, 1, {2}, 2)};
    for (auto &hidden : *state.spaces)
        hidden.page_directory.address.reset();
    EXPECT_EQ(make_tree(state).front().tsgs.front().spaces.size(), 2u);
}

TEST(Tree, UnreadableStateIsNullAndNotFalse) {
    State state = quiet_gpu().state;
    state.runlists[0] = runlist(0, {tsg(5, {channel(1)})});
    state.spaces = error(nvdebug::ErrorCode::denied, "no");
    state.now = error(nvdebug::ErrorCode::denied, "no");
    state.scheduling = error(nvdebug::ErrorCode::denied, "no");
    state.runlists[1] = error(nvdebug::ErrorCode::io, "runlist1: no");
    const Json data = tree_json(state, make_tree(state));
    EXPECT_TRUE(data["runlists"][0]["scheduling"].is_null());
    EXPECT_TRUE(data["runlists"][0]["tsgs"][0]["shared"].is_null());
    EXPECT_TRUE(data["runlists"][0]["tsgs"][0]["active_on"].is_null());
    EXPECT_EQ(data["runlists"][1]["error"], "runlist1: no");
    EXPECT_TRUE(data["runlists"][1]["tsg_count"].is_null());
}

TEST(Tree, AnIdleEngineHasNoTaskAndChannelsAreNewerThanEngines) {
    using Engines = std::optional<std::vector<std::string>>;
    const Engines none{std::in_place};
    State state = quiet_gpu().state;
    state.runlists[0] = runlist(0, {tsg(5, {channel(1)}), tsg(6, {channel(2)})});
    nvdebug::EngineState &gr0 = state.now->front();
    gr0.current = nvdebug::Occupant{nvdebug::Occupant::Kind::tsg, 5};
    const auto active_on = [&](std::size_t n) {
        return make_tree(state).front().tsgs[n].active_on;
    };
    gr0.busy = false;
    EXPECT_EQ(active_on(0), none) << "it shows who was the last";
    for (const std::optional<bool> busy : {std::optional(true), std::optional<bool>()}) {
        gr0.busy = busy;
        EXPECT_EQ(active_on(0), Engines({"GR0"}));
    }
    for (const char *status : {"ON_ENG", "ON_PBDMA_AND_ENG", "ON_ENG_PENDING_ACQUIRE"}) {
        state.runlists[0] = runlist(0, {tsg(5, {channel(1)}), tsg(6, {channel(2)})});
        auto &other = std::get<nvdebug::Tsg>(state.runlists[0]->items[1]);
        other.channels.front().status_name = status;
        EXPECT_EQ(active_on(0), none) << "TSG 6 came meanwhile: " << status;
        EXPECT_EQ(active_on(1), none);
    }
}

TEST(Tree, GivesEachTaskItsOwnAddressSpaces) {
    State state = quiet_gpu().state;
    for (std::uint32_t list : {0, 1})
        state.runlists[list] = runlist(list, {tsg(7, {channel(1), channel(2)}), channel(7),
                                              tsg(7, {channel(2), channel(3)}), channel(8)});
    state.spaces =
        std::vector{use(0, 7, 0x1000, 0, {1}), use(0, 7, 0x2000, 1, {2}), use(0, 7, 0x1000, 2, {3}),
                    use(0, 0, 0x3000, 0, {8, 7, 7}), use(1, 7, 0x4000, 0, {1, 2, 3})};
    state.spaces->at(3).tsg.reset();
    const auto tree = make_tree(state);
    const auto &tasks = tree[0].tsgs;
    ASSERT_EQ(tasks.size(), 3u);
    ASSERT_EQ(tasks[0].spaces.size(), 2u);
    EXPECT_EQ(tasks[0].spaces[0].page_directory->address, 0x1000);
    EXPECT_EQ(tasks[0].spaces[0].veids, (std::vector<std::uint32_t>{0, 2}));
    EXPECT_EQ(tasks[0].spaces[0].channels.size(), 2u);
    EXPECT_EQ(channel_count(tasks[0]), 3u);
    for (const std::size_t bare : {1, 2}) {
        ASSERT_EQ(tasks[bare].spaces.size(), 1u);
        EXPECT_EQ(tasks[bare].spaces[0].page_directory->address, 0x3000);
        EXPECT_EQ(tasks[bare].spaces[0].veids.size(), 1u);
    }
    ASSERT_EQ(tree[1].tsgs[0].spaces.size(), 1u);
    EXPECT_EQ(tree[1].tsgs[0].spaces[0].page_directory->address, 0x4000);
    EXPECT_FALSE(tree[1].tsgs[1].spaces[0].page_directory);
}

TEST(Tree, FoldsTsgsThatAreAlike) {
    State state = quiet_gpu().state;
    std::vector<nvdebug::RunlistItem> items;
    for (std::uint32_t id = 0; id < 500; ++id) {
        std::vector<nvdebug::Channel> channels;
        for (std::uint32_t n = 0; n < 8; ++n)
            channels.push_back(channel(8 * id + n));
        items.push_back(tsg(id, std::move(channels)));
    }
    state.runlists[0] = runlist(0, std::move(items));
    state.now->front().current = nvdebug::Occupant{nvdebug::Occupant::Kind::tsg, 250};
    state.now->front().busy = true;
    const std::string text = text_of(state);
    EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 12);
    EXPECT_NE(text.find("TSGs 0-249  250 TSGs, each: share 0.2%"), std::string::npos) << text;
    EXPECT_NE(text.find("on GR0 now"), std::string::npos);
    EXPECT_NE(text.find("channels 2008-3999"), std::string::npos);
    EXPECT_EQ(tree_json(state, make_tree(state))["runlists"][0]["tsgs"].size(), 500u);
}

TEST(Tree, IsCutAtTheTerminalsWidthAndNowhereElse) {
    State state = quiet_gpu().state;
    std::vector<nvdebug::Channel> channels;
    for (std::uint32_t n = 0; n < 40; ++n)
        channels.push_back(channel(2 * n));
    state.runlists[0] = runlist(0, {tsg(5, std::move(channels))});
    EXPECT_NE(text_of(state).find(", 78\n"), std::string::npos);
    std::istringstream narrow(text_of(state, 40));
    bool cut = false;
    for (std::string line; std::getline(narrow, line); cut = cut || line.ends_with("..."))
        EXPECT_LE(line.size(), 40u);
    EXPECT_TRUE(cut);
    EXPECT_NE(text_of(state, 40, true).find("…"), std::string::npos);
}
