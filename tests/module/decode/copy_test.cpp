// SPDX-License-Identifier: MIT OR GPL-2.0
// Copy-engine wiring in each generation's form.
#include <gtest/gtest.h>

#include "decode/copy.h"

namespace {

TEST(Pascal, OneNibblePerPce) {
    const std::uint32_t config = 0x77777732; // PCE0 to LCE2, PCE1 to LCE3, the rest unconnected
    EXPECT_EQ(nvdebug_pce_lce_gp100(config, 0), 2);
    EXPECT_EQ(nvdebug_pce_lce_gp100(config, 1), 3);
    EXPECT_EQ(nvdebug_pce_lce_gp100(config, 2), NVDEBUG_LCE_NONE);
    EXPECT_EQ(nvdebug_pce_lce_gp100(0x10000000, 7), 1);
    EXPECT_EQ(nvdebug_pce_lce_gp100(config, 8), NVDEBUG_LCE_NONE) << "no such nibble";
    EXPECT_EQ(nvdebug_pce_lce_gp100(config, 0xFFFFFFFF), NVDEBUG_LCE_NONE);
}

TEST(Pascal, OneBytePerGrce) {
    const std::uint32_t config = 0x0000030A; // GRCE0 shares LCE2; GRCE1 does not share
    EXPECT_EQ(nvdebug_grce_lce_gp100(config, 0), 2);
    EXPECT_EQ(nvdebug_grce_lce_gp100(config, 1), NVDEBUG_LCE_NONE);
    EXPECT_EQ(nvdebug_grce_lce_gp100(0x00000B00, 1), 3);
    EXPECT_EQ(nvdebug_grce_lce_gp100(config, 4), NVDEBUG_LCE_NONE);
}

TEST(VoltaAndNewer, OneRegisterPerPce) {
    EXPECT_EQ(nvdebug_pce_lce_gv100(0x4, 0), 4);
    EXPECT_EQ(nvdebug_pce_lce_gv100(0xF, 3), NVDEBUG_LCE_NONE);
    EXPECT_EQ(nvdebug_pce_lce_gv100(0xFFFFFFF9, 3), 9) << "only bits 3:0 are the LCE";
}

TEST(Volta, GrceIsSharedIfItNamesAnLce) {
    EXPECT_EQ(nvdebug_grce_lce_gv100(0x2, 0), 2);
    EXPECT_EQ(nvdebug_grce_lce_gv100(0xF, 0), NVDEBUG_LCE_NONE);
}

TEST(TuringAndNewer, GrceIsSharedIfBit30Says) {
    EXPECT_EQ(nvdebug_grce_lce_tu102(0x40000003, 0), 3);
    EXPECT_EQ(nvdebug_grce_lce_tu102(0xC0000004, 1), 4) << "bit 31 is the timeslice";
    EXPECT_EQ(nvdebug_grce_lce_tu102(0x00000003, 0), NVDEBUG_LCE_NONE);
    EXPECT_EQ(nvdebug_grce_lce_tu102(0x4000000F, 0), NVDEBUG_LCE_NONE);
}

// The words have the end bits of each field, with ones around it.
TEST(Copy, FieldsAmongOnes) {
    EXPECT_EQ(nvdebug_pce_lce_gp100(0xFFFFF9FF, 2), 9);
    EXPECT_EQ(nvdebug_grce_lce_gp100(0xFFFFFDFF, 1), 5);
    EXPECT_EQ(nvdebug_grce_lce_gv100(0xFFFFFFF9, 0), 9);
    EXPECT_EQ(nvdebug_grce_lce_tu102(0xFFFFFFF9, 0), 9);
    EXPECT_EQ(nvdebug_grce_lce_tu102(0xBFFFFFF9, 0), NVDEBUG_LCE_NONE);
}

} // namespace
