// SPDX-License-Identifier: MIT OR GPL-2.0
// Scripted faults.
#include "support.hpp"

#include "base/parse.hpp"

#include <bit>

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

/// An access to memory without a BAR is an access like any other.
TEST(Faults, ActOnDirectMemoryAccesses) {
    Bench bench("titan-v", "idle");
    bench.gpu.direct_write(0x5000, 0x1234);
    const Ns before = bench.gpu.now();
    EXPECT_EQ(bench.gpu.direct_read(0x5000), 0x1234U);
    EXPECT_EQ(bench.gpu.now() - before, bar_access_ns);
    fault(bench, "wrong-after 0 0x5");
    EXPECT_EQ(bench.gpu.direct_read(0x5000), 0x5U);
    fault(bench, "lose-writes-after 0");
    bench.gpu.direct_write(0x5000, 0x5678);
    EXPECT_EQ(bench.gpu.direct_read(0x5000), 0x1234U);
    fault(bench, "all-ones");
    EXPECT_EQ(bench.gpu.direct_read(0x5000), 0xffffffffU);
}

TEST(Faults, GoneForAWhile) {
    Bench bench("titan-v", "idle");
    fault(bench, "all-ones-after 1 2");
    EXPECT_EQ(bench.read(0x0), 0x140000a1U);
    EXPECT_EQ(bench.read(0x0), 0xffffffffU);
    bench.write(0x1700, 0x5);
    EXPECT_EQ(bench.read(0x0), 0x140000a1U) << "it is back";
    EXPECT_EQ(bench.read(0x1700), 0U) << "the write was lost";
    EXPECT_EQ(bench.gpu.faults().hits(), 2U);
}

TEST(Faults, LostWrites) {
    Bench bench("titan-v", "idle");
    fault(bench, "lose-writes-after 1 1");
    bench.write(0x1700, 0x1);
    bench.write(0x1700, 0x2);
    EXPECT_EQ(bench.read(0x1700), 0x1U);
    bench.write(0x1700, 0x3);
    EXPECT_EQ(bench.read(0x1700), 0x3U);
    EXPECT_EQ(bench.gpu.faults().hits(), 1U);
    EXPECT_EQ(bench.gpu.faults().accesses(), 5U);
}

TEST(Faults, AReadThatIsWrong) {
    Bench bench("titan-v", "idle");
    bench.write(0x1700, 0x5);
    fault(bench, "wrong-after 1 0x12345678");
    EXPECT_EQ(bench.read(0x1700), 0x5U);
    EXPECT_EQ(bench.read(0x1700), 0x12345678U);
    EXPECT_EQ(bench.read(0x1700), 0x5U);
    fault(bench, "wrong-after 0 7 2");
    EXPECT_EQ(bench.gpu.bar_read(Bar::framebuffer, 0, 1), 7U);
    EXPECT_EQ(bench.read(0x0), 7U);
    EXPECT_EQ(bench.read(0x0), 0x140000a1U);
}

TEST(Faults, TimeStandsStill) {
    auto bench = Bench::started("titan-v", "three-tasks");
    const Ns before = bench->gpu.now();
    fault(*bench, "freeze-after 2 3");
    for (int i = 0; i < 6; ++i)
        bench->read(0x0);
    EXPECT_EQ(bench->gpu.now() - before, 3 * ns_per_us) << "of six accesses";
    fault(*bench, "freeze-after 0");
    bench->preempt_tsg(0);
    for (int i = 0; i < 1'000; ++i)
        bench->read(0x0);
    EXPECT_TRUE(bench->preempt_pending()) << "forever";
    fault(*bench, "none");
    for (int i = 0; i < 1'000; ++i)
        bench->read(0x0);
    EXPECT_FALSE(bench->preempt_pending());
}

TEST(Faults, AUnitWithoutPower) {
    auto bench = Bench::started("titan-v", "three-tasks");
    fault(*bench, "all-ones PCCSR");
    EXPECT_EQ(bench->read(0x800004), 0xffffffffU);
    EXPECT_EQ(bench->gpu.bar_read(Bar::registers, 0x800005, 1), 0xffU);
    EXPECT_EQ(bench->read(0x0), 0x140000a1U);
    bench->disable(0);
    fault(*bench, "none");
    EXPECT_EQ(bench->read(0x800004) & 1, 0U) << "the write was done";
}

TEST(Faults, PriErrorOfABlock) {
    auto bench = Bench::started("titan-v", "three-tasks");
    fault(*bench, "pri-error PCCSR 0xbadf5100");
    fault(*bench, "pri-error BAR1 0xbad0fb00");
    fault(*bench, "pri-error PRAMIN 0xbad00100");
    EXPECT_EQ(bench->read(0x800004), 0xbadf5100U);
    EXPECT_EQ(bench->read(0x0), 0x140000a1U);
    EXPECT_EQ(bench->gpu.bar_read(Bar::framebuffer, 0, 8), 0xbad0fb00bad0fb00U);
    EXPECT_EQ(bench->gpu.bar_read(Bar::registers, 0x700001, 1), 0x01U);
    EXPECT_EQ(bench->gpu.faults().hits(), 3U);
    bench->expect_no_violations();
}

TEST(Faults, PriErrorOfAKind) {
    Bench bench("titan-v", "idle");
    fault(bench, "pri-error 0xbadf0200");
    EXPECT_EQ(bench.read(0x0), 0xbadf0200U);
    EXPECT_EQ(bench.read(0x700000), 0xbadf0200U);
}

TEST(Faults, BitsThatStay) {
    Bench bench("titan-v", "idle");
    bench.write(0x1700, 0x5);
    fault(bench, "set 0x1700 0x102");
    fault(bench, "clear 0x1700 0x001");
    EXPECT_EQ(bench.read(0x1700), 0x106U);
    EXPECT_EQ(bench.gpu.bar_read(Bar::registers, 0x1701, 1), 0x1U);
    EXPECT_EQ(bench.gpu.faults().hits(), 2U);
    EXPECT_EQ(bench.gpu.bar_read(Bar::framebuffer, 0x1700, 4), 0U) << "BAR0 only";
    fault(bench, "none");
    EXPECT_EQ(bench.read(0x1700), 0x5U);
}

/// Counts how many of 10,000 reads of a register that is 5 go wrong, by kind.
struct Wrong {
    int ones = 0, errors = 0, flips = 0, other = 0;
    [[nodiscard]] int all() const { return ones + errors + flips + other; }
};

Wrong random_reads(const std::string &spec) {
    Bench bench("titan-v", "idle");
    bench.write(0x1700, 0x5);
    fault(bench, spec);
    Wrong wrong;
    for (int i = 0; i < 10'000; ++i) {
        const std::uint32_t value = bench.read(0x1700);
        if (value == 0xffffffff)
            ++wrong.ones;
        else if (value >> 20 == 0xbad)
            ++wrong.errors;
        else if (std::popcount(value ^ 0x5) == 1)
            ++wrong.flips;
        else if (value != 0x5)
            ++wrong.other;
    }
    EXPECT_EQ(bench.gpu.faults().hits(), static_cast<std::uint64_t>(wrong.all()));
    return wrong;
}

TEST(Faults, RandomOfAnyKind) {
    const Wrong wrong = random_reads("random 1 0.03");
    EXPECT_NEAR(wrong.ones, 100, 40);
    EXPECT_NEAR(wrong.errors, 100, 40);
    EXPECT_NEAR(wrong.flips, 100, 40);
    EXPECT_EQ(wrong.other, 0);
}

TEST(Faults, RandomOfOneKind) {
    EXPECT_EQ(random_reads("random 7 1 ones").ones, 10'000);
    EXPECT_EQ(random_reads("random 7 1 pri-error").errors, 10'000);
    EXPECT_EQ(random_reads("random 7 1 flip").flips, 10'000);
    EXPECT_EQ(random_reads("random 7 0").all(), 0);
}

TEST(Faults, RandomIsTheSameForTheSameSeed) {
    const auto sequence = [](const std::string &spec) {
        Bench bench("titan-v", "idle");
        fault(bench, spec);
        std::vector<std::uint32_t> read;
        for (int i = 0; i < 1'000; ++i)
            read.push_back(bench.read(0x0));
        return read;
    };
    EXPECT_EQ(sequence("random 3 0.1"), sequence("random 3 0.1"));
    EXPECT_NE(sequence("random 3 0.1"), sequence("random 4 0.1"));
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

TEST(Faults, RotateRunlist) {
    auto bench = Bench::started("titan-v", "three-tasks");
    fault(*bench, "rotate-runlist 0 2 1");
    const std::uint32_t before = bench->read(0x2280);
    bench->read(0x700000);
    EXPECT_EQ(bench->read(0x2280), before);
    bench->read(0x700000);
    const std::uint32_t after = bench->read(0x2280);
    EXPECT_NE(after, before);
    EXPECT_EQ(bench->peek({Aperture::video, std::uint64_t{after & 0xfffffff} << 12}) >> 24, 1U)
        << "the TIMEOUT of the first version";
    EXPECT_EQ(bench->read(0x2280), after) << "once";
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

TEST(Faults, BadSpecificationsAreRefused) {
    Bench bench("titan-v", "idle");
    const std::string known =
        "; there are all-ones, all-ones-after, clear, freeze-after, lose-writes-after, "
        "move-runlist, move-window, none, pri-error, random, read, rotate-runlist, set, stuck, "
        "wrong-after (see docs/model.md)";
    const std::map<std::string, std::string> errors{
        {"", "fault: \"\" is not known" + known},
        {"bang", "fault: \"bang\" is not known" + known},
        {"read 0x0", "fault read: expected 2 arguments"},
        {"all-ones-after 1 0", "fault: EVERY and TIMES must not be 0"},
        {"all-ones NOWHERE", "fault: \"NOWHERE\" is not a block of registers"},
        {"pri-error 0x12345678", "fault pri-error: 0x12345678 is not 0xbad....."},
        {"pri-error BAR3 0xbadf1100", "fault: \"BAR3\" is not a block of registers"},
        {"random 1", "fault random: expected 2 to 3 arguments"},
        {"random 1 1.5", "fault random: \"1.5\" is not a rate of 0 to 1"},
        {"random 1 0.5 odd", "fault random: \"odd\" is not ones, pri-error or flip"},
        {"read 0x2 1", "fault: offset 0x2 is not a multiple of 4"},
        {"read 0x1000000 1", "fault: 0x1000000 is too large"},
        {"read 0x0 0x100000000", "fault: 0x100000000 is too large"},
        {"stuck zero", "fault: \"zero\" is not a number"},
        {"move-window 0", "fault: EVERY and TIMES must not be 0"},
        {"move-runlist 0 1 0", "fault: EVERY and TIMES must not be 0"},
        {"move-runlist 0", "fault move-runlist: expected 2 to 3 arguments"},
        {"rotate-runlist 0 1 2 3", "fault rotate-runlist: expected 2 to 3 arguments"},
        {"none 1", "fault none: expected 0 arguments"},
    };
    for (const auto &[spec, expected] : errors)
        EXPECT_EQ(config_error([&, s = &spec] { fault(bench, *s); }), expected);
    EXPECT_EQ(bench.read(0x0), 0x140000a1U);
}

} // namespace
} // namespace nvmodel::test
