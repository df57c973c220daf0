// SPDX-License-Identifier: MIT OR GPL-2.0
// BAR1 and BAR2 in virtual mode: the driver's tables for them, as hardware reads them.
#include "started.hpp"

#include "regs/pbus.hpp"
#include "regs/ramin.hpp"

#include <algorithm>

namespace nvmodel::test {
namespace {

using namespace regs;

/// Returns the instance block behind BAR2, read from its registers.
PhysicalAddress bar2_instance(Bench &bench) {
    if (bench.gpu.board().generation->bar_block == BarBlock::vf_paired)
        return {Aperture::video, join(bench.read(pbus::vf_bar2_block_high),
                                      bench.read(pbus::vf_bar2_block_low) & 0xfffff000)};
    const bool vf = bench.gpu.board().generation->bar_block != BarBlock::pbus;
    const std::uint32_t word = bench.read(vf ? pbus::vf_bar2_block : pbus::bar2_block);
    EXPECT_EQ(word >> 28, 0xcU) << "virtual, CYA off, video memory";
    return {Aperture::video, std::uint64_t{word & 0x0fffffff} << 12};
}

mmu::Leaf first_leaf(const Bench &bench, PhysicalAddress instance) {
    const auto space = bench.gpu.chip().instance_spaces().base(instance);
    mmu::Leaf first;
    mmu::leaves(bench.gpu.memory(), space->format, space->root, [&](const mmu::Leaf &leaf) {
        first = leaf;
        return false;
    });
    return first;
}

class BarsOn : public testing::TestWithParam<const char *> {};

TEST_P(BarsOn, MappedShowsTheStructures) {
    auto bench = Bench::started(GetParam(), "bars");
    const PhysicalAddress instance = bar2_instance(*bench);
    const std::uint64_t end = bench->gpu.board().video_bytes;
    EXPECT_GE(instance.address, end - 0x100000) << "within the parked window";
    const auto space = bench->gpu.chip().instance_spaces().base(instance);
    ASSERT_TRUE(space);
    EXPECT_GE(space->root.address, end - 0x100000);

    std::map<std::uint64_t, mmu::Leaf> by_address;
    mmu::leaves(bench->gpu.memory(), space->format, space->root, [&](const mmu::Leaf &leaf) {
        by_address.emplace(leaf.at.address, leaf);
        return true;
    });
    for (const Driver::BuiltChannel &channel : bench->gpu.driver().channels()) {
        for (const std::uint64_t at :
             {channel.instance.address + 4 * ramin::pdb_lo,
              channel.block.space().page_directory.address, channel.context->address.address}) {
            auto leaf = by_address.upper_bound(at);
            ASSERT_NE(leaf, by_address.begin());
            --leaf;
            const std::uint64_t offset = at - leaf->first;
            ASSERT_LT(offset, leaf->second.page_size);
            const std::uint64_t va = leaf->second.va + offset;
            EXPECT_LT(va, bench->gpu.board().bar2.modelled);
            EXPECT_EQ(bench->gpu.bar_read(Bar::instance, va, 8),
                      *bench->gpu.memory().read_value({Aperture::video, at}, 8));
        }
    }
    bench->expect_no_violations();
}

/// A reader that looks at pages of one size only finds all of the driver's structures.
TEST_P(BarsOn, MappedShowsListsByPagesOfEachSize) {
    auto bench = Bench::started(GetParam(), "bars");
    const auto space = bench->gpu.chip().instance_spaces().base(bar2_instance(*bench));
    ASSERT_TRUE(space);
    for (const std::uint64_t page : {mmu::small_page, space->format.big_page})
        for (const auto &structure : bench->gpu.driver().structures()) {
            if (structure.at.address >= bench->gpu.board().video_bytes - 0x100000)
                continue; // the BAR's own tables, in the window
            bool shown = false;
            mmu::leaves(bench->gpu.memory(), space->format, space->root,
                        [&](const mmu::Leaf &leaf) {
                            shown = leaf.page_size == page &&
                                    leaf.at.address == structure.at.address / page * page;
                            return !shown;
                        });
            EXPECT_TRUE(shown) << structure.what << " at " << std::hex << structure.at.address
                               << " by pages of " << page;
        }
}

TEST_P(BarsOn, PbusShowsTheSameRegistersUpToAda) {
    auto bench = Bench::started(GetParam(), "fig6");
    if (bench->gpu.board().generation->bar_block == BarBlock::vf_paired) {
        EXPECT_EQ(bench->read(pbus::bar2_block), 0xbadf5040U);
        return;
    }
    EXPECT_EQ(bench->read(pbus::bar2_block) & 0x0fffffff,
              low32(bar2_instance(*bench).address >> 12));
    bench->expect_no_violations();
}

TEST_P(BarsOn, VirtualShowsOnlyTheDriversOwnTables) {
    auto bench = Bench::started(GetParam(), "fig6");
    const PhysicalAddress instance = bar2_instance(*bench);
    EXPECT_LT(instance.address, bench->gpu.board().video_bytes - 0x100000)
        << "the parked window does not reach it";
    const mmu::Leaf leaf = first_leaf(*bench, instance);
    EXPECT_EQ(leaf.at.address, instance.address);
    bench->gpu.bar_write(Bar::instance, leaf.va + 0xff8, 0x1122334455667788, 8);
    EXPECT_EQ(bench->peek({Aperture::video, instance.address + 0xffc}), 0x11223344U);
    bench->expect_no_violations();

    EXPECT_EQ(bench->gpu.bar_read(Bar::instance, 0, 4), 0xbad0ac00U) << "not mapped";
    bench->gpu.bar_write(Bar::instance, 0, 1, 4);
    ASSERT_EQ(bench->gpu.violations().records().size(), 2U);
    EXPECT_EQ(bench->gpu.violations().records()[0].why, Violation::memory);
}

TEST_P(BarsOn, UpperHalfOfBar2StaysPhysicalUpToAda) {
    auto bench = Bench::started(GetParam(), "bars");
    const std::uint64_t half = bench->gpu.board().bar2.modelled / 2;
    const bool halved = bench->gpu.board().generation->bar_block != BarBlock::vf_paired;
    bench->poke({Aperture::video, half + 0x123450}, 0xabcdef01);
    EXPECT_EQ(bench->gpu.bar_read(Bar::instance, half + 0x123450, 4),
              halved ? 0xabcdef01U : 0xbad0ac00U);
}

TEST_P(BarsOn, Bar1ShowsUserdAndConsole) {
    auto bench = Bench::started(GetParam(), "fig6");
    const PhysicalAddress userd = bench->gpu.driver().channels()[0].block.userd;
    EXPECT_EQ(bench->gpu.bar_read(Bar::framebuffer, 0x400000 + userd.address % 0x1000 + 4 * 35, 4),
              1U)
        << "GP_PUT";
    bench->poke({Aperture::video, 0x1000}, 0x77);
    EXPECT_EQ(bench->gpu.bar_read(Bar::framebuffer, 0x1000, 4), 0x77U);
    bench->expect_no_violations();
}

TEST_P(BarsOn, PhysicalShowsVideoMemory) {
    auto bench = Bench::started(GetParam(), "low");
    bench->poke({Aperture::video, 0x1234560}, 0x99);
    EXPECT_EQ(bench->gpu.bar_read(Bar::instance, 0x1234560, 4), 0x99U);
    EXPECT_EQ(bench->gpu.bar_read(Bar::framebuffer, 0x1234560, 4), 0x99U);
    bench->expect_no_violations();
}

INSTANTIATE_TEST_SUITE_P(Boards, BarsOn, testing::ValuesIn(cards), test_name);

TEST(VirtualBars, InvalidInstanceBlockIsNotTranslated) {
    Bench bench("titan-v", "idle");
    bench.write(0x1704, 0x80001000); // virtual, an instance block of zeros at 0x1000000
    EXPECT_EQ(bench.gpu.bar_read(Bar::framebuffer, 0, 4), 0xbad0ac00U);
    bench.write(0x1704, 0x90001000); // target 1 does not exist
    EXPECT_EQ(bench.gpu.bar_read(Bar::framebuffer, 0, 4), 0xbad0ac00U);
    EXPECT_EQ(bench.gpu.bar_read(Bar::instance, 0, 4), 0U) << "BAR2 has its own mode";
    ASSERT_EQ(bench.gpu.violations().records().size(), 1U);
    EXPECT_EQ(bench.gpu.violations().records()[0].why, Violation::memory);
}

TEST(VirtualBars, TheLimitCounts) {
    auto bench = Bench::started("gtx1060-3gb", "fig6");
    const PhysicalAddress instance = bar2_instance(*bench);
    const mmu::Leaf leaf = first_leaf(*bench, instance);
    bench->poke({Aperture::video, instance.address + 4 * ramin::adr_limit_lo},
                low32(leaf.va - 1) & 0xfffff000);
    EXPECT_EQ(bench->gpu.bar_read(Bar::instance, leaf.va, 4), 0xbad0ac00U);
    EXPECT_EQ(bench->peek({Aperture::video, instance.address + 4 * ramin::adr_limit_lo}),
              (low32(leaf.va - 1) & 0xfffff000));
}

TEST(VirtualBars, PascalHasBigPagesOf128KibInVersion2) {
    auto pascal = Bench::started("gtx1060-3gb", "page-tables");
    const Space &wide = pascal->gpu.driver().spaces().at("wide");
    EXPECT_EQ(wide.tables().format(),
              (mmu::Format{.version = mmu::Version::v2, .big_page = 128 * mmu::kib}));
    const auto channel = std::ranges::find_if(
        pascal->gpu.driver().channels(), [&](const Driver::BuiltChannel &built) {
            return built.block.space().page_directory == wide.tables().root();
        });
    ASSERT_NE(channel, pascal->gpu.driver().channels().end());
    const auto space = pascal->gpu.chip().instance_spaces().base(channel->instance);
    ASSERT_TRUE(space);
    EXPECT_EQ(space->format.big_page, 128 * mmu::kib);
    const mmu::Walk walk =
        mmu::translate(pascal->gpu.memory(), space->format, space->root, 0x245678);
    ASSERT_TRUE(walk.page);
    EXPECT_EQ(walk.page->page_size, 128 * mmu::kib);
    auto volta = Bench::started("titan-v", "page-tables");
    EXPECT_EQ(volta->gpu.driver().spaces().at("wide").tables().format().big_page, 64 * mmu::kib);
}

TEST(VirtualBars, BigPagesOfKeplerAreOneSettingForAll) {
    Bench bench("quadro-k5000", "page-tables");
    EXPECT_EQ(bench.read(0x100c80), 1U);
    bench.gpu.start();
    EXPECT_EQ(bench.read(0x100c80), 0U) << "one address space wants 128 KiB";
    for (const auto &[name, space] : bench.gpu.driver().spaces())
        EXPECT_EQ(space.tables().format().big_page, 128 * mmu::kib) << name;
    auto maxwell = Bench::started("gtx980", "page-tables");
    EXPECT_EQ(maxwell->read(0x100c80), 0x801U);
    EXPECT_EQ(maxwell->gpu.driver().spaces().at("sizes").tables().format().big_page, 64 * mmu::kib);
    EXPECT_EQ(maxwell->gpu.driver().spaces().at("older").tables().format().big_page,
              128 * mmu::kib);
    maxwell->expect_no_violations();
}

} // namespace
} // namespace nvmodel::test
