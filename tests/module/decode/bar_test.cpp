// SPDX-License-Identifier: MIT OR GPL-2.0
// The blocks that BAR1 and BAR2 show.
#include <gtest/gtest.h>

#include "decode/bar.h"
#include "hw/ram.h"

namespace {

TEST(Bar, BlockOfOneRegister) {
    nvdebug_bar_block block;
    nvdebug_bar_block_gk104(0xC0200400, 0, 2, &block);
    EXPECT_TRUE(block.is_virtual);
    EXPECT_TRUE(block.halved);
    EXPECT_FALSE(block.busy);
    EXPECT_EQ(block.aperture, NV_APERTURE_VID);
    EXPECT_EQ(block.inst, 0x200400000u);

    nvdebug_bar_block_gk104(0xAFFFFFFF, 0, 1, &block);
    EXPECT_EQ(block.aperture, NV_APERTURE_COH);
    EXPECT_EQ(block.inst, 0xFFFFFFF000u);
    nvdebug_bar_block_gk104(0x7FFFFFFF, 0, 1, &block);
    EXPECT_FALSE(block.is_virtual);
    EXPECT_FALSE(block.halved) << "BAR1 has no such bit";
    EXPECT_EQ(block.aperture, NV_APERTURE_NCOH);
}

TEST(Bar, EachHasItsOwnBindStatus) {
    nvdebug_bar_block block;
    const struct {
        u32 bind;
        bool busy[2];
    } cases[] = {{0x0, {false, false}}, {0x1, {true, false}}, {0x2, {true, false}},
                 {0x4, {false, true}},  {0x8, {false, true}}, {0x30, {false, false}}};
    for (const auto &c : cases) {
        for (int bar : {1, 2}) {
            nvdebug_bar_block_gk104(0x80000000, c.bind, bar, &block);
            EXPECT_EQ(block.busy, c.busy[bar - 1]) << c.bind << " BAR" << bar;
        }
    }
}

TEST(Bar, BlockOfTwoRegisters) {
    nvdebug_bar_block block;
    nvdebug_bar_block_gh100(0x34800200, 0x12, &block);
    EXPECT_TRUE(block.is_virtual);
    EXPECT_FALSE(block.busy);
    EXPECT_FALSE(block.halved);
    EXPECT_EQ(block.aperture, NV_APERTURE_VID);
    EXPECT_EQ(block.inst, 0x1234800000u);

    nvdebug_bar_block_gh100(0xFFFFFDFC, 0xFFFFFFFF, &block);
    EXPECT_FALSE(block.is_virtual);
    EXPECT_FALSE(block.busy);
    EXPECT_EQ(block.aperture, NV_APERTURE_NCOH);
    EXPECT_EQ(block.inst, 0xFFFFFFFFFF000u);
    for (u32 low : {0x201u, 0x202u}) {
        nvdebug_bar_block_gh100(low, 0, &block);
        EXPECT_TRUE(block.busy);
    }
}

} // namespace
