// SPDX-License-Identifier: MIT OR GPL-2.0
// Counts in context images, by the firmware that switches graphics contexts.
#include "started.hpp"

#include "regs/ctxsw.hpp"
#include "regs/ramin.hpp"

namespace nvmodel::test {
namespace {

using namespace regs::ctxsw;

class Contexts : public testing::TestWithParam<const char *> {};

Json context(Started &started, std::size_t channel) {
    return started.ask("layout")["channels"][channel]["context"];
}

TEST_P(Contexts, SavesAndRestoresAreCounted) {
    Started started(GetParam(), "three-tasks");
    EXPECT_EQ(context(started, 0)["saves"], 0);
    // Each of three tasks has 2 ms in 6 ms, so it was saved about 10 times in 60 ms.
    started.bench.advance_us(60'000);
    for (const std::size_t channel : {0, 2, 4}) {
        const Json counts = context(started, channel);
        const int saves = counts["saves"];
        EXPECT_NEAR(saves, 10, 1);
        EXPECT_NEAR(counts["restores"].get<int>(), saves, 1);
        if (!started.generation().context.preemption_modes)
            continue;
        EXPECT_EQ(counts["cta_saves"], saves);
        EXPECT_EQ(counts["wfi_saves"], 0);
    }
    EXPECT_EQ(context(started, 1), context(started, 0)) << "channels of a TSG share it";
    started.bench.expect_no_violations();
}

INSTANTIATE_TEST_SUITE_P(Boards, Contexts, testing::ValuesIn(boards), test_name);

TEST(ContextCounters, SavesCountForTheModeInMemory) {
    Started started("titan-v", "preemption");
    started.bench.advance_us(40'000);
    const std::map<std::size_t, std::string> kinds{
        {0, "wfi_saves"}, {1, "cta_saves"}, {3, "cilp_saves"}, {4, "gfxp_saves"}};
    for (const auto &[channel, kind] : kinds) {
        const Json counts = context(started, channel);
        EXPECT_GT(counts["saves"], 5);
        for (const auto &[other, name] : kinds)
            EXPECT_EQ(counts[name], name == kind ? counts["saves"] : Json(0)) << kind;
    }

    const Json before = context(started, 1);
    const PhysicalAddress image = place(before["image"]);
    started.bench.poke({image.aperture, image.address + compute_preemption_options}, 2);
    started.bench.advance_us(40'000);
    const Json after = context(started, 1);
    EXPECT_EQ(after["cta_saves"], before["cta_saves"]);
    EXPECT_GT(after["cilp_saves"], 5);
    EXPECT_EQ(after["compute_preemption"], "CILP");
    EXPECT_EQ(after["saves"].get<int>(),
              after["cta_saves"].get<int>() + after["cilp_saves"].get<int>());
}

/// Contexts are so high up that a reader that cuts the pointers to 40 or 49 bits does not find
/// them.
TEST(ContextCounters, FoundBeyond49BitsFromHopperOn) {
    for (const char *name : {"h200", "b200", "rtx5090", "a100", "titan-v"}) {
        Started started(name, "preemption");
        const bool wide = started.generation().instance.wide_pointer;
        EXPECT_EQ(context(started, 1)["image_va"] == "0x2200000000000", wide) << name;
        EXPECT_EQ(context(started, 3)["image_va"].get<std::string>().size() > 15, wide) << name;
        EXPECT_EQ(context(started, 4)["image_va"].get<std::string>().substr(0, 5), "0x9a0");
        started.bench.advance_us(40'000);
        for (const std::size_t channel : {0U, 1U, 3U, 4U})
            EXPECT_GT(context(started, channel)["saves"], 5) << name << ' ' << channel;
        const Driver::BuiltChannel &built = started.bench.gpu.driver().channels()[3];
        EXPECT_EQ(started.bench.peek({built.instance.aperture,
                                      built.instance.address + 4 * regs::ramin::engine_wfi_hi}) >>
                          8 !=
                      0,
                  wide);
    }
}

TEST(ContextCounters, APreemptSaves) {
    Started started("a100", R"(fig6)");
    started.bench.advance_us(500);
    EXPECT_EQ(context(started, 0)["restores"], 1);
    EXPECT_EQ(context(started, 0)["saves"], 0);
    started.bench.preempt_tsg(0);
    started.bench.advance_us(100);
    EXPECT_EQ(context(started, 0)["saves"], 1);
}

TEST(ContextCounters, NothingIsWrittenWhereNoImageIs) {
    Started started("titan-v", "three-tasks");
    const PhysicalAddress image = place(context(started, 0)["image"]);
    started.bench.poke({image.aperture, image.address + magic}, 0);
    started.bench.advance_us(60'000);
    EXPECT_EQ(context(started, 0)["saves"], 0);
    EXPECT_GT(context(started, 2)["saves"], 5);
    started.bench.expect_no_violations();
}

} // namespace
} // namespace nvmodel::test
