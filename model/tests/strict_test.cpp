// SPDX-License-Identifier: MIT OR GPL-2.0
// Strict mode and access statistics.
#include "support.hpp"

namespace nvmodel::test {
namespace {

void expect_violation(Bench &bench, std::uint64_t offset, bool write, unsigned size,
                      Violation why) {
    ASSERT_EQ(bench.gpu.violations().records().size(), 1U) << std::hex << offset;
    const Violations::Record &record = bench.gpu.violations().records()[0];
    EXPECT_EQ(record.access.offset, offset);
    EXPECT_EQ(record.access.write, write);
    EXPECT_EQ(record.access.size, size);
    EXPECT_EQ(record.why, why);
    bench.gpu.violations().reset();
}

TEST(Strict, UnmodelledInsideABlock) {
    Bench bench("titan-v", "idle");
    EXPECT_EQ(bench.read(0x2ffc), 0xbadf5040U);
    expect_violation(bench, 0x2ffc, false, 4, Violation::unmodelled);
    bench.write(0x2ffc, 1);
    expect_violation(bench, 0x2ffc, true, 4, Violation::unmodelled);
}

TEST(Strict, NothingThere) {
    Bench bench("titan-v", "idle");
    EXPECT_EQ(bench.read(0x300000), 0xbadf1100U);
    expect_violation(bench, 0x300000, false, 4, Violation::unmodelled);
    EXPECT_EQ(bench.read(0xfffffc), 0xbadf1100U);
    expect_violation(bench, 0xfffffc, false, 4, Violation::unmodelled);
}

TEST(Strict, WriteOnly) {
    Bench volta("titan-v", "idle");
    volta.read(0x810090);
    expect_violation(volta, 0x810090, false, 4, Violation::write_only);
    Bench ampere("a100", "idle");
    ampere.read(0xd00090);
    expect_violation(ampere, 0xd00090, false, 4, Violation::write_only);
}

TEST(Strict, ReadOnly) {
    Bench bench("titan-v", "idle");
    for (const std::uint32_t offset : {0x0U, 0x22700U, 0x21c1cU, 0x2280U, 0x2640U, 0x3080U,
                                       0x104028U, 0x40120U, 0x1710U, 0x2008U}) {
        const std::uint32_t before = bench.read(offset);
        bench.write(offset, ~before);
        expect_violation(bench, offset, true, 4, Violation::read_only);
        EXPECT_EQ(bench.read(offset), before);
    }
    Bench ampere("a100", "idle");
    for (const std::uint32_t offset : {0x224fcU, 0x22800U, 0xd00004U, 0xd00010U, 0xd0008cU,
                                       0xd00108U, 0xd00200U, 0xd00228U, 0x4015cU}) {
        ampere.write(offset, 1);
        expect_violation(ampere, offset, true, 4, Violation::read_only);
    }
}

TEST(Strict, SizesThatRegistersDoNotHave) {
    Bench bench("titan-v", "idle");
    EXPECT_EQ(bench.gpu.bar_read(Bar::registers, 0x0, 1), 0xa1U);
    expect_violation(bench, 0x0, false, 1, Violation::size);
    EXPECT_EQ(bench.gpu.bar_read(Bar::registers, 0x2, 2), 0x1400U);
    expect_violation(bench, 0x2, false, 2, Violation::size);
    EXPECT_EQ(bench.gpu.bar_read(Bar::registers, 0x1, 4), 0x001400'00U);
    expect_violation(bench, 0x1, false, 4, Violation::size);
    bench.gpu.bar_write(Bar::registers, 0x1700, 0xff, 1);
    expect_violation(bench, 0x1700, true, 1, Violation::size);
    EXPECT_EQ(bench.read(0x1700), 0U);
    bench.gpu.bar_read(Bar::registers, 0x700000, 8);
    expect_violation(bench, 0x700000, false, 8, Violation::size);
    bench.gpu.bar_read(Bar::registers, 0x700002, 4);
    expect_violation(bench, 0x700002, false, 4, Violation::size);
    bench.gpu.bar_read(Bar::framebuffer, 0x3, 8);
    bench.expect_no_violations();
}

TEST(Strict, EightBytesAreTwoRegisters) {
    auto bench = Bench::started("titan-v", "idle");
    EXPECT_EQ(bench->gpu.bar_read(Bar::registers, 0x405b60, 8),
              join(bench->read(0x405b64), bench->read(0x405b60)));
    bench->gpu.bar_write(Bar::registers, 0x405b60, 0x11223344'55667788, 8);
    EXPECT_EQ(bench->read(0x405b60), 0x55667788U);
    EXPECT_EQ(bench->read(0x405b64), 0x11223344U);
    bench->expect_no_violations();
    bench->gpu.bar_write(Bar::registers, 0x405b5c, 0x99, 8); // the lower half is not there
    EXPECT_EQ(bench->read(0x405b60), 0U);
    expect_violation(*bench, 0x405b5c, true, 4, Violation::unmodelled);
}

TEST(Strict, CountsRepeats) {
    Bench bench("titan-v", "idle");
    for (int i = 0; i < 3; ++i)
        bench.read(0x300000);
    bench.write(0x300000, 0);
    ASSERT_EQ(bench.gpu.violations().records().size(), 2U);
    EXPECT_EQ(bench.gpu.violations().records()[0].count, 3U);
    EXPECT_EQ(bench.gpu.violations().records()[1].count, 1U);
}

TEST(Strict, IsBounded) {
    Bench bench("titan-v", "idle");
    for (unsigned i = 0; i < Violations::max_records + 5; ++i)
        bench.read(0x300000 + 4 * i);
    EXPECT_EQ(bench.gpu.violations().records().size(), Violations::max_records);
    EXPECT_EQ(bench.gpu.violations().overflow(), 5U);
}

TEST(Strict, GenerationsDoNotAnswerForEachOther) {
    Bench pascal("gtx1060-3gb", "idle");
    for (const std::uint32_t offset : {0x2638U, 0x263cU, 0x2b00U, 0x3400U, 0x3100U, 0x810090U,
                                       0x224fcU, 0x104040U, 0x820c1cU, 0xb80f40U, 0xd00004U}) {
        EXPECT_EQ(pascal.read(offset) & 0xffff0000, 0xbadf0000U) << std::hex << offset;
        expect_violation(pascal, offset, false, 4, Violation::unmodelled);
    }
    Bench kepler("quadro-k5000", "idle");
    for (const std::uint32_t offset :
         {0x2004U, 0x2008U, 0x22454U, 0x104028U, 0x405b2cU, 0x100ce0U, 0x10fd40U, 0xb80f40U}) {
        EXPECT_EQ(kepler.read(offset) & 0xffff0000, 0xbadf0000U) << std::hex << offset;
        expect_violation(kepler, offset, false, 4, Violation::unmodelled);
    }
    Bench ada("rtx6000-ada", "idle");
    for (const std::uint32_t offset : {0x2270U, 0x2640U, 0x800000U, 0x810080U, 0x22700U, 0x10402cU,
                                       0x21c1cU, 0xd11000U, 0x200U, 0x262cU, 0x405b00U}) {
        EXPECT_EQ(ada.read(offset) & 0xffff0000, 0xbadf0000U) << std::hex << offset;
        expect_violation(ada, offset, false, 4, Violation::unmodelled);
    }
}

const Statistics::Counts &counts(Bench &bench, const std::string &block, Bar bar = Bar::registers) {
    return bench.gpu.statistics().blocks().at(bar).find(block)->second;
}

TEST(Statistics, AccessesCountByBlock) {
    auto bench = Bench::started("a100", "three-tasks");
    EXPECT_TRUE(bench->gpu.statistics().blocks().empty()) << "the driver's are not counted";
    bench->read(0x0);
    bench->read(0xa00);
    bench->write(0x1700, 0);
    bench->read(0xb80f40);
    bench->read(0xd00004);
    bench->read(0xe00000);
    bench->write(0xe00000, 3);
    bench->read(0x300000);
    bench->gpu.bar_read(Bar::framebuffer, 0x10, 8);
    EXPECT_EQ(counts(*bench, "PMC").reads, 2U);
    EXPECT_EQ(counts(*bench, "PMC").read_bytes, 8U);
    EXPECT_EQ(counts(*bench, "PBUS_WINDOW").writes, 1U);
    EXPECT_EQ(counts(*bench, "BAR_BLOCK").reads, 1U);
    EXPECT_EQ(counts(*bench, "RUNLIST").reads, 1U);
    EXPECT_EQ(counts(*bench, "CHRAM").reads, 1U);
    EXPECT_EQ(counts(*bench, "CHRAM").write_bytes, 4U);
    EXPECT_EQ(counts(*bench, "OTHER").reads, 1U);
    EXPECT_EQ(counts(*bench, "BAR1", Bar::framebuffer).read_bytes, 8U);
    bench->gpu.statistics().reset();
    EXPECT_TRUE(bench->gpu.statistics().blocks().empty());
}

TEST(Statistics, RereadRegisters) {
    Bench bench("titan-v", "idle");
    bench.read(0x0);
    EXPECT_EQ(counts(bench, "PMC").reread_bytes, 0U);
    bench.read(0x0);
    bench.read(0x4);
    EXPECT_EQ(counts(bench, "PMC").reread_bytes, 4U);
    bench.gpu.statistics().reset();
    bench.read(0x0);
    EXPECT_EQ(counts(bench, "PMC").reread_bytes, 0U);
}

TEST(Statistics, RereadMemoryIsByPhysicalAddress) {
    Bench bench("titan-v", "idle");
    bench.write(0x1700, 0x10);
    bench.read(0x710000);
    bench.write(0x1700, 0x20); // the same offset shows another place
    bench.read(0x710000);
    EXPECT_EQ(counts(bench, "PRAMIN").reread_bytes, 0U);
    bench.write(0x1700, 0x11);
    bench.read(0x700000); // another offset shows the place that was read first
    EXPECT_EQ(counts(bench, "PRAMIN").reread_bytes, 4U);
    // This read through BAR1 takes two bytes of the same place, and two new ones.
    bench.gpu.bar_read(Bar::framebuffer, 0x110002, 4);
    EXPECT_EQ(counts(bench, "BAR1", Bar::framebuffer).reread_bytes, 2U);
    bench.write(0x1700, 0x02000000 | 0x11); // system memory at the same address is another place
    bench.read(0x700000);
    EXPECT_EQ(counts(bench, "PRAMIN").reread_bytes, 4U);
}

} // namespace
} // namespace nvmodel::test
