// SPDX-License-Identifier: MIT OR GPL-2.0
#include <gtest/gtest.h>

#include "objects/copy.hpp"
#include "objects/tree_picture.hpp"
#include "state.hpp"

using namespace drawing;
using namespace nvdebugctl;
using namespace nvdebugctl::tests;

namespace {

const Caption caption{"GPU <0> & \"co\"", "live", "test"};

std::size_t count(const std::string &text, const std::string &part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

} // namespace

TEST(Svg, FitsTextIntoItsBox) {
    const Font font{.size = 10};
    EXPECT_EQ(fit("short", font, 100), "short");
    const std::string cut = fit("a very long text that does not fit", font, 60);
    EXPECT_LE(text_width(cut, font), 60);
    EXPECT_TRUE(cut.ends_with("…"));
    EXPECT_LE(text_width(fit("µµµµµµµµµµµµ", font, 45), font), 45);
    EXPECT_GT(text_width("W", {.size = 10, .bold = true}), text_width("W", font));
    for (const std::string &line : wrap("some words and an unbreakablyverylongone", font, 70))
        EXPECT_LE(text_width(line, font), 70);
}

TEST(Svg, EscapesText) {
    const std::string svg = copy_svg({}, caption);
    EXPECT_NE(svg.find("GPU &lt;0&gt; &amp; &quot;co&quot;"), std::string::npos);
}

TEST(Svg, IsWellFormedForAnyText) {
    const std::string svg = copy_svg({}, {"bad \xff\x1b\uFFFF end", "live", "test"});
    EXPECT_NE(svg.find(">bad \ufffd\ufffd\ufffd end<"), std::string::npos) << svg;
}

TEST(CopyPicture, ShowsOwnedBorrowedContendedAndUnused) {
    const Facts facts = quiet_gpu();
    nvdebug::CopyTopology copy = *facts.copy;
    copy.pce_map = 0xf;
    const CopyWiring wiring = make_wiring(copy, *facts.state.engines);
    ASSERT_EQ(wiring.runlists.size(), 3u);
    EXPECT_EQ(wiring.runlists[0].other_engines, std::vector<std::string>{"GR0"});
    EXPECT_EQ(wiring.runlists[0].lces[1].graphics_name, "GRCE1");
    EXPECT_EQ(wiring.runlists[0].lces[1].borrowed, std::vector<std::uint32_t>{0});
    EXPECT_EQ(wiring.runlists[1].lces[0].graphics_name, "");
    EXPECT_EQ(wiring.unused, std::vector<std::uint32_t>{3});
    EXPECT_EQ(wiring.pces[0].contenders, (std::vector<std::string>{"LCE1", "LCE2"}));
    EXPECT_TRUE(wiring.pces[1].contenders.empty());

    const std::string svg = copy_svg(wiring, caption);
    for (int pce = 0; pce < 4; ++pce)
        EXPECT_EQ(count(svg, ">PCE " + std::to_string(pce) + "</text>"), pce == 3 ? 1u : 2u)
            << "its box, and the LCE that it is assigned to";
    EXPECT_EQ(count(svg, "LCE1, LCE2 contend"), 1u);
    EXPECT_EQ(count(svg, "stroke-dasharray=\"7 4\""), 2u) << "one edge, and the legend";
}

TEST(CopyPicture, IsDrawnWithoutEngines) {
    EXPECT_NE(copy_svg({}, caption).find("no logical copy engine"), std::string::npos);
}

TEST(TreePicture, ABarsWidthIsTheShare) {
    State state = quiet_gpu().state;
    state.runlists[0] =
        runlist(0, {tsg(5, {channel(1)}, 3'000'000), tsg(6, {channel(2)}, 1'000'000)});
    const std::string svg = tree_svg(make_tree(state), caption);
    EXPECT_EQ(count(svg, "width=\"277.5\" height=\"16.0\""), 1u) << "three quarters of 370";
    EXPECT_EQ(count(svg, "width=\"92.5\" height=\"16.0\""), 1u);
}

TEST(TreePicture, IsDrawnWithoutRunlists) {
    EXPECT_NE(tree_svg({}, caption).find("No runlist could be read"), std::string::npos);
}
