// SPDX-License-Identifier: MIT OR GPL-2.0
// Scripted faults.
#include "support.hpp"

#include "base/parse.hpp"

namespace nvmodel::test {
namespace {

void fault(Bench &bench, const std::string &spec) {
    bench.gpu.faults().add(split_words(spec));
}

TEST(Faults, AllOnes) {
    auto bench = Bench::started("titan-v", "three-tasks");
    fault(*bench, "all-ones");
    EXPECT_EQ(bench->read(0x0), 0xffffffffU);
    EXPECT_EQ(bench->gpu.bar_read(Bar::framebuffer, 0, 8), ~0ULL);
    EXPECT_EQ(bench->gpu.bar_read(Bar::registers, 0x700000, 1), 0xffU);
    bench->disable(0);
    fault(*bench, "none");
    EXPECT_EQ(bench->read(0x0), 0x140000a1U);
    EXPECT_EQ(bench->read(0x800004) & 1, 1U) << "the write was dropped";
    bench->expect_no_violations();
}

TEST(Faults, AllOnesAfter) {
    Bench bench("titan-v", "idle");
    fault(bench, "all-ones-after 2");
    EXPECT_EQ(bench.read(0x0), 0x140000a1U);
    bench.write(0x1700, 0x5);
    EXPECT_EQ(bench.read(0x1700), 0xffffffffU);
    EXPECT_EQ(bench.read(0x0), 0xffffffffU);
}

TEST(Faults, PriError) {
    Bench bench("titan-v", "idle");
    fault(bench, "pri-error");
    EXPECT_EQ(bench.read(0x0), 0xbadf1100U);
    EXPECT_EQ(bench.read(0x700000), 0xbadf1100U);
    EXPECT_EQ(bench.gpu.bar_read(Bar::framebuffer, 0, 4), 0U) << "BAR0 only";
    bench.expect_no_violations();
}

TEST(Faults, ReadGivesAnotherValue) {
    Bench bench("titan-v", "idle");
    fault(bench, "read 0x0 0x12345678");
    fault(bench, "read 0xa00 7");
    EXPECT_EQ(bench.read(0x0), 0x12345678U);
    EXPECT_EQ(bench.read(0xa00), 7U);
    EXPECT_EQ(bench.read(0x4), 0U);
    fault(bench, "none");
    EXPECT_EQ(bench.read(0x0), 0x140000a1U);
}

TEST(Faults, StuckRegister) {
    Bench bench("titan-v", "idle");
    fault(bench, "stuck 0x1700");
    bench.write(0x1700, 0x5);
    EXPECT_EQ(bench.read(0x1700), 0U);
    bench.write(0x1704, 0x5);
    EXPECT_EQ(bench.read(0x1704), 0x5U) << "its neighbour is not";
    bench.gpu.bar_write(Bar::instance, 0x1700, 0x7, 4);
    EXPECT_EQ(bench.gpu.bar_read(Bar::instance, 0x1700, 4), 0x7U) << "nor is another BAR";
}

TEST(Faults, MoveRunlist) {
    auto bench = Bench::started("titan-v", "three-tasks");
    fault(*bench, "move-runlist 0 3");
    const std::uint32_t before = bench->read(0x2280);
    bench->read(0x700000);
    bench->read(0x700000);
    EXPECT_EQ(bench->read(0x2280), before);
    bench->read(0x700000);
    const std::uint32_t after = bench->read(0x2280);
    EXPECT_NE(after, before);
    for (int i = 0; i < 3; ++i)
        bench->read(0x700000);
    EXPECT_NE(bench->read(0x2280), after);
    EXPECT_EQ(bench->read(0x2284) & 0xffff, 9U);
}

TEST(Faults, MoveRunlistALimitedNumberOfTimes) {
    auto bench = Bench::started("titan-v", "three-tasks");
    fault(*bench, "move-runlist 0 1 2");
    std::vector<std::uint32_t> bases;
    for (int i = 0; i < 4; ++i) {
        bases.push_back(bench->read(0x2280));
        bench->read(0x700000);
    }
    EXPECT_NE(bases[1], bases[0]);
    EXPECT_NE(bases[2], bases[1]);
    EXPECT_EQ(bases[3], bases[2]);
}

TEST(Faults, MoveRunlistThatTheWorkloadLacksMovesNothing) {
    auto bench = Bench::started("titan-v", "three-tasks");
    fault(*bench, "move-runlist 7 1");
    EXPECT_NO_THROW(bench->read(0x700000));
}

TEST(Faults, MoveWindow) {
    auto bench = Bench::started("titan-v", "three-tasks");
    fault(*bench, "move-window 2");
    bench->write(0x1700, 0x123);
    bench->read(0x700000);
    EXPECT_EQ(bench->read(0x1700), 0x123U);
    bench->read(0x700000);
    const std::uint32_t moved = bench->read(0x1700);
    EXPECT_NE(moved, 0x123U);
    bench->read(0x700000);
    bench->read(0x700000);
    EXPECT_NE(bench->read(0x1700), moved) << "somewhere else each time";
}

TEST(Faults, AddUp) {
    Bench bench("titan-v", "idle");
    fault(bench, "read 0x0 1");
    fault(bench, "stuck 0x1700");
    bench.write(0x1700, 9);
    EXPECT_EQ(bench.read(0x0), 1U);
    EXPECT_EQ(bench.read(0x1700), 0U);
}

TEST(Faults, StayOverRestartAndReset) {
    auto bench = Bench::started("titan-v", "three-tasks");
    fault(*bench, "read 0x0 1");
    bench->gpu.restart(nullptr);
    EXPECT_EQ(bench->read(0x0), 1U);
    bench->gpu.reset();
    EXPECT_EQ(bench->read(0x0), 1U);
}

TEST(Faults, BadOnesAreRefused) {
    Bench bench("titan-v", "idle");
    const std::map<std::string, std::string> errors{
        {"", "fault: \"\" is not known (see docs/model.md)"},
        {"bang", "fault: \"bang\" is not known (see docs/model.md)"},
        {"read 0x0", "fault read: expected 2 arguments"},
        {"read 0x2 1", "fault: offset 0x2 is not a multiple of 4"},
        {"read 0x1000000 1", "fault: 0x1000000 is too large"},
        {"read 0x0 0x100000000", "fault: 0x100000000 is too large"},
        {"stuck zero", "fault: \"zero\" is not a number"},
        {"move-window 0", "fault: EVERY and TIMES must not be 0"},
        {"move-runlist 0 1 0", "fault: EVERY and TIMES must not be 0"},
        {"move-runlist 0", "fault move-runlist: expected 2 arguments"},
        {"none 1", "fault none: expected 0 arguments"},
    };
    for (const auto &[spec, expected] : errors)
        EXPECT_EQ(config_error([&, s = &spec] { fault(bench, *s); }), expected);
    EXPECT_EQ(bench.read(0x0), 0x140000a1U);
}

} // namespace
} // namespace nvmodel::test
