// SPDX-License-Identifier: MIT OR GPL-2.0
// Masks of units, the work distributor's tables, sizes of video memory.
#include <cerrno>

#include <gtest/gtest.h>

#include "decode/geometry.h"

namespace {

TEST(UnitMask, Widths) {
    EXPECT_EQ(nvdebug_unit_mask(0), 0u);
    EXPECT_EQ(nvdebug_unit_mask(1), 1u);
    EXPECT_EQ(nvdebug_unit_mask(7), 0x7Fu);
    EXPECT_EQ(nvdebug_unit_mask(31), 0x7FFFFFFFu);
    EXPECT_EQ(nvdebug_unit_mask(32), 0xFFFFFFFFu);
}

struct Place {
    unsigned gpc, tpc;
};

void expect_places(std::initializer_list<std::uint32_t> words, std::initializer_list<Place> want) {
    unsigned id = 0;
    for (const Place &place : want) {
        nvdebug_tpc_place got{};
        ASSERT_EQ(nvdebug_tpc_find(words.begin(), static_cast<u32>(words.size()), id, &got), 0);
        EXPECT_EQ(got.gpc, place.gpc) << id;
        EXPECT_EQ(got.tpc, place.tpc) << id;
        id++;
    }
}

// Read on a Jetson Xavier (gv11b): ids start at the highest TPC.
TEST(Cwd, Xavier) {
    u32 gpcs, tpcs;
    nvdebug_cwd_fs_decode(0x00000401, &gpcs, &tpcs);
    EXPECT_EQ(gpcs, 1u);
    EXPECT_EQ(tpcs, 4u);
    expect_places({0x00010203}, {{0, 3}, {0, 2}, {0, 1}, {0, 0}});
}

// A GTX 1060 3GB: GPC 0 has five TPCs, GPC 1 four, numbered in turn.
TEST(Cwd, TwoGpcsInTurn) {
    u32 gpcs, tpcs;
    nvdebug_cwd_fs_decode(0x00000902, &gpcs, &tpcs);
    EXPECT_EQ(gpcs, 2u);
    EXPECT_EQ(tpcs, 9u);
    expect_places({0x11011000, 0x13031202, 0x00000004},
                  {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 3}, {0, 4}});
}

TEST(Cwd, IdsBeyondTheTable) {
    const std::uint32_t words[16] = {};
    nvdebug_tpc_place place{};
    EXPECT_EQ(nvdebug_tpc_find(words, 16, 63, &place), 0);
    EXPECT_EQ(nvdebug_tpc_find(words, 16, 64, &place), -ERANGE);
    EXPECT_EQ(nvdebug_tpc_find(words, 6, 24, &place), -ERANGE);
    EXPECT_EQ(nvdebug_tpc_find(nullptr, 0, 0, &place), -ERANGE);
}

TEST(Cwd, TpcsInPlacesOfTheirOwn) {
    const std::uint32_t words[] = {0x03020100, 0x13121110, 0x000000FF};
    EXPECT_TRUE(nvdebug_tpcs_differ(words, 3, 0));
    EXPECT_TRUE(nvdebug_tpcs_differ(words, 3, 9));
    EXPECT_FALSE(nvdebug_tpcs_differ(words, 3, 10)) << "GPC 0, TPC 0 again";
    EXPECT_FALSE(nvdebug_tpcs_differ(words, 2, 9)) << "beyond the table";
    const std::uint32_t zero[16] = {};
    EXPECT_TRUE(nvdebug_tpcs_differ(zero, 16, 1));
    EXPECT_FALSE(nvdebug_tpcs_differ(zero, 16, 2));
}

TEST(Cwd, Partitions) {
    nvdebug_cwd_partition partition;
    nvdebug_cwd_partition_decode(0, &partition);
    EXPECT_STREQ(nvdebug_partitioning_name(partition.partitioning), "none");
    EXPECT_STREQ(nvdebug_partition_table_name(partition.table), "none");
    nvdebug_cwd_partition_decode(0x08050006, &partition);
    EXPECT_STREQ(nvdebug_partitioning_name(partition.partitioning), "dynamic");
    EXPECT_STREQ(nvdebug_partition_table_name(partition.table), "enable");
    EXPECT_EQ(partition.veid_offset, 5);
    EXPECT_EQ(partition.table_offset, 8);
    nvdebug_cwd_partition_decode(0x00000009, &partition);
    EXPECT_STREQ(nvdebug_partitioning_name(partition.partitioning), "static");
    EXPECT_STREQ(nvdebug_partition_table_name(partition.table), "lmem");
    nvdebug_cwd_partition_decode(0x0000000F, &partition);
    EXPECT_STREQ(nvdebug_partitioning_name(partition.partitioning), "undefined");
    EXPECT_STREQ(nvdebug_partition_table_name(partition.table), "undefined");
}

// The words have the end bits of each field, with ones around it.
TEST(Cwd, FieldsAmongOnes) {
    u32 gpcs, tpcs;
    nvdebug_cwd_fs_decode(0xFFFF8181, &gpcs, &tpcs);
    EXPECT_EQ(gpcs, 0x81u);
    EXPECT_EQ(tpcs, 0x81u);
    nvdebug_cwd_partition partition;
    nvdebug_cwd_partition_decode(0xE1E1FFF6, &partition);
    expect_places({0xFF9999FF}, {{15, 15}, {9, 9}, {9, 9}, {15, 15}});
    EXPECT_EQ(partition.partitioning, 2);
    EXPECT_EQ(partition.table, 1);
    EXPECT_EQ(partition.veid_offset, 0x21);
    EXPECT_EQ(partition.table_offset, 0x21);
}

TEST(VideoMemory, RangeUpToGa100) {
    EXPECT_EQ(nvdebug_video_memory_gp102(0), 0u);
    EXPECT_EQ(nvdebug_video_memory_gp102(0x00000306 | 1u << 4), 49ull << 26) << "MAG 49, SCALE 6";
    EXPECT_EQ(nvdebug_video_memory_gp102(0x0000020A), 0x20ull << 30) << "32 GiB";
    EXPECT_EQ(nvdebug_video_memory_gp102(0x4000020A), 30ull << 30) << "32 GiB with ECC";
    EXPECT_EQ(nvdebug_video_memory_gp102(0xBFFFFC1F), 1ull << 35) << "only 9:0 are the size";
}

TEST(VideoMemory, MebibytesFromGa102On) {
    EXPECT_EQ(nvdebug_video_memory_ga102(0), 0u);
    EXPECT_EQ(nvdebug_video_memory_ga102(0x0000C000), 48ull << 30);
    EXPECT_EQ(nvdebug_video_memory_ga102(0x00023F00), 0x23F0000000ull) << "more than 32 bits";
}

} // namespace
