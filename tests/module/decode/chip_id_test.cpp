// SPDX-License-Identifier: MIT OR GPL-2.0
// NV_PMC_BOOT_0/42 and the patterns of the register bus. Words are values measured on boards.
#include <cerrno>

#include <gtest/gtest.h>

#include "decode/chip_id.h"
#include "decode/register.h"

namespace {

struct Chip {
    const char *board;
    std::uint32_t boot0;
    std::uint32_t boot42;
    std::uint16_t chip;
    std::uint8_t revision;
};

const Chip chips[] = {
    {"GTX 1060 3GB", 0x136000A1, 0, 0x136, 0xA1},
    {"Titan V", 0x140000A1, 0, 0x140, 0xA1},
    {"RTX 2080 Ti", 0x162000A1, 0x162A1000, 0x162, 0xA1},
    {"A100", 0x170000A1, 0x170A1000, 0x170, 0xA1},
    {"A10, whose foundry bits 31:29 are 5", 0xB72000A1, 0x172A1000, 0x172, 0xA1},
    {"L40S", 0x192000A1, 0x192A1000, 0x192, 0xA1},
    {"Xavier", 0x15B000A1, 0x15BA1000, 0x15B, 0xA1},
    {"K520, whose PCI device bits 17:12 are set", 0x0E40A0A2, 0, 0x0E4, 0xA2},
};

TEST(ChipId, MeasuredBoards) {
    for (const Chip &c : chips) {
        nvdebug_chip_id id{};
        EXPECT_EQ(nvdebug_chip_id_decode(c.boot0, c.boot42, &id), 0) << c.board;
        EXPECT_EQ(id.chip, c.chip) << c.board;
        EXPECT_EQ(id.revision, c.revision) << c.board;
    }
}

TEST(ChipId, ArchitectureBitFive) {
    // Bit 8 is the architecture's bit 5: a made-up architecture 0x36, implementation 2.
    nvdebug_chip_id id{};
    EXPECT_EQ(nvdebug_chip_id_decode(0x162001A1, 0, &id), 0);
    EXPECT_EQ(id.chip, 0x362);
}

TEST(ChipId, FutureChipsDeferToBoot42) {
    nvdebug_chip_id id{};
    EXPECT_EQ(nvdebug_chip_id_decode(0x00000100, 0x205B2000, &id), 0);
    EXPECT_EQ(id.chip, 0x205);
    EXPECT_EQ(id.revision, 0xB2);
    EXPECT_EQ(nvdebug_chip_id_decode(0x00000100, 0, &id), -EINVAL);
}

TEST(ChipId, DisagreementIsAnError) {
    nvdebug_chip_id id{};
    EXPECT_EQ(nvdebug_chip_id_decode(0x136000A1, 0x140A1000, &id), -EINVAL);
    EXPECT_EQ(id.chip, 0x136);
}

TEST(ChipId, BusErrorsAreNoChip) {
    nvdebug_chip_id id{};
    EXPECT_EQ(nvdebug_chip_id_decode(0xFFFFFFFF, 0, &id), -ENODEV);
    EXPECT_EQ(nvdebug_chip_id_decode(0xBADF0200, 0, &id), -EIO);
    EXPECT_EQ(nvdebug_chip_id_decode(0xBAD00200, 0, &id), -EIO);
}

TEST(RegValue, ErrorWordsDifferFromData) {
    EXPECT_EQ(nvdebug_reg_value_check(0xFFFFFFFF), -ENODEV);
    for (std::uint32_t error : {0xBAD00100u, 0xBAD0DA00u, 0xBADF1100u, 0xBADF1201u, 0xBADF3000u,
                                0xBADF5040u, 0xBADF51FFu, 0xBADA0000u, 0xBAD00000u, 0xBADFFFFFu})
        EXPECT_EQ(nvdebug_reg_value_check(error), -EIO) << std::hex << error;
    for (std::uint32_t data : {0u, 0xBACFFFFFu, 0xBAE00000u, 0xFFFFFFFEu, 0xFFFFFu, 0x0BADF000u})
        EXPECT_EQ(nvdebug_reg_value_check(data), 0) << std::hex << data;
}

TEST(Boot1, VirtualFunctions) {
    EXPECT_FALSE(nvdebug_boot1_is_virtual(0));
    EXPECT_TRUE(nvdebug_boot1_is_virtual(0x10000)); // VGPU 17:16 = 1, para-virtual
    EXPECT_TRUE(nvdebug_boot1_is_virtual(0x20000)); // 2, SR-IOV virtual function
    EXPECT_TRUE(nvdebug_boot1_is_virtual(0x100));   // VGPU8, the older place
}

TEST(ChipId, FieldsAmongOnes) {
    nvdebug_chip_id id{};
    EXPECT_EQ(nvdebug_chip_id_decode(0xF36FFE58, 0xD3658FFF, &id), 0);
    EXPECT_EQ(id.chip, 0x136);
    EXPECT_EQ(id.revision, 0x58);
    EXPECT_EQ(nvdebug_chip_id_decode(0x00000100, 0xE0585FFF, &id), 0);
    EXPECT_EQ(id.chip, 0x205);
    EXPECT_EQ(id.revision, 0x85);
    EXPECT_FALSE(nvdebug_boot1_is_virtual(0xFFFCFEFF));
}

} // namespace
