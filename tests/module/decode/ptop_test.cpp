// SPDX-License-Identifier: MIT OR GPL-2.0
// The device table in both layouts: dumps of real chips, tables encoded by hand, damaged ones.
#include <cerrno>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "decode/ptop.h"
#include "hw/ptop.h"

namespace {

using Words = std::vector<std::uint32_t>;
using Decode = int (*)(const u32 *, size_t, nvdebug_engine *, size_t, u32 *);

struct Table {
    std::vector<nvdebug_engine> engines;
    std::uint32_t ignored = 0;
};

Table decode(Decode function, const Words &words) {
    Table table;
    table.engines.resize(64);
    const int count = function(words.data(), words.size(), table.engines.data(),
                               table.engines.size(), &table.ignored);
    EXPECT_GE(count, 0);
    table.engines.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    return table;
}

struct Expected {
    const char *type;
    unsigned inst, engine, runlist, intr, reset, pri_base, fault;
};

void expect_v1(const nvdebug_engine &engine, const Expected &want) {
    EXPECT_STREQ(nvdebug_engine_type_name(engine.type), want.type);
    EXPECT_EQ(engine.inst, want.inst) << want.type;
    EXPECT_EQ(engine.engine_id, want.engine) << want.type;
    EXPECT_EQ(engine.runlist, want.runlist) << want.type;
    EXPECT_EQ(engine.intr_id, want.intr) << want.type;
    EXPECT_EQ(engine.reset_id, want.reset) << want.type;
    EXPECT_EQ(engine.pri_base, want.pri_base) << want.type;
    EXPECT_EQ(engine.fault_id, want.fault) << want.type;
}

constexpr unsigned v1_all = NVDEBUG_ENGINE_HAS_ID | NVDEBUG_ENGINE_HAS_RUNLIST |
                            NVDEBUG_ENGINE_HAS_FAULT_ID | NVDEBUG_ENGINE_HAS_RESET_ID |
                            NVDEBUG_ENGINE_HAS_INTR_ID | NVDEBUG_ENGINE_HAS_PRI_BASE;

// Read on a Jetson Xavier (gv11b), with the zero words that follow.
TEST(PtopV1, Xavier) {
    Words words = {0x8006183E, 0x80000003, 0x00400205, 0x88028C3E, 0x8000004F, 0x0010407D,
                   0x8C030E3E, 0x8000004F, 0x04104085, 0x8423AA3E, 0x8000004F, 0x0810408D};
    words.resize(64);
    const Table table = decode(nvdebug_ptop_v1_decode, words);
    const Expected want[] = {{"GR", 0, 0, 0, 12, 12, 0x400000, 64},
                             {"LCE", 0, 2, 0, 5, 6, 0x104000, 15},
                             {"LCE", 1, 3, 0, 6, 7, 0x104000, 16},
                             {"LCE", 2, 1, 1, 7, 21, 0x104000, 17}};
    ASSERT_EQ(table.engines.size(), std::size(want));
    for (std::size_t i = 0; i < std::size(want); i++) {
        expect_v1(table.engines[i], want[i]);
        EXPECT_EQ(table.engines[i].has, v1_all);
    }
    EXPECT_EQ(table.ignored, 0u);
}

// A GTX 1660 Ti's table (TU116): sparse runlist ids, and a GSP that Host does not drive.
TEST(PtopV1, Turing) {
    const Words words = {0xA103AA3E, 0x8000004F, 0x0810408D,  // LCE2 on runlist 8
                         0x84289E3E, 0x80000043, 0x00830055,  // NVDEC0
                         0x8C679C3E, 0x80000037, 0x00087075,  // SEC0
                         0x8848243E, 0x8000003B, 0x001C805D,  // NVENC0
                         0x800D800A, 0x80000053, 0x00110015}; // GSP0
    const Table table = decode(nvdebug_ptop_v1_decode, words);
    ASSERT_EQ(table.engines.size(), 5u);
    expect_v1(table.engines[0], {"LCE", 2, 8, 8, 7, 21, 0x104000, 17});
    expect_v1(table.engines[1], {"NVDEC", 0, 1, 1, 17, 15, 0x830000, 10});
    expect_v1(table.engines[2], {"SEC", 0, 3, 3, 15, 14, 0x087000, 14});
    expect_v1(table.engines[3], {"NVENC", 0, 2, 2, 16, 18, 0x1C8000, 11});
    const nvdebug_engine &gsp = table.engines[4];
    EXPECT_STREQ(nvdebug_engine_type_name(gsp.type), "GSP");
    EXPECT_EQ(gsp.has, unsigned{NVDEBUG_ENGINE_HAS_INTR_ID | NVDEBUG_ENGINE_HAS_FAULT_ID |
                                NVDEBUG_ENGINE_HAS_PRI_BASE});
    EXPECT_EQ(gsp.intr_id, 27u);
}

// Read on a GK107: no DATA words, the copy engines are types of their own.
TEST(PtopV1, KeplerHasNoDataWords) {
    Words words = {0x8006183E, 0x00000003, 0x90828C3E, 0x00000007, 0x94A30E3E, 0x0000000B,
                   0x9C03AA3E, 0x0000000F, 0x8428A23E, 0x00000023, 0x8840023E, 0x00000027,
                   0x8C679E3E, 0x0000002B, 0x98C8243E, 0x0000002F};
    words.resize(64);
    const Table table = decode(nvdebug_ptop_v1_decode, words);
    const Expected want[] = {{"GR", 0, 0, 0, 12, 12, 0, 0},     {"COPY0", 0, 4, 4, 5, 6, 0, 0},
                             {"COPY1", 0, 5, 5, 6, 7, 0, 0},    {"COPY2", 0, 7, 0, 7, 21, 0, 0},
                             {"MSPDEC", 0, 1, 1, 17, 17, 0, 0}, {"MSPPP", 0, 2, 2, 0, 1, 0, 0},
                             {"MSVLD", 0, 3, 3, 15, 15, 0, 0},  {"MSENC", 0, 6, 6, 16, 18, 0, 0}};
    ASSERT_EQ(table.engines.size(), std::size(want));
    for (std::size_t i = 0; i < std::size(want); i++) {
        expect_v1(table.engines[i], want[i]);
        EXPECT_EQ(table.engines[i].has,
                  unsigned{NVDEBUG_ENGINE_HAS_ID | NVDEBUG_ENGINE_HAS_RUNLIST |
                           NVDEBUG_ENGINE_HAS_RESET_ID | NVDEBUG_ENGINE_HAS_INTR_ID});
    }
    EXPECT_EQ(table.ignored, 0u);
}

TEST(PtopV1, WordsInAnyOrderAndHolesInsideAChain) {
    const Table table = decode(nvdebug_ptop_v1_decode, {0x90228C3E, 0, 0x8C10407D, 0x0000004F, 0, 0,
                                                        0x8000000F, 0x0006183E});
    ASSERT_EQ(table.engines.size(), 2u);
    EXPECT_STREQ(nvdebug_engine_type_name(table.engines[0].type), "LCE");
    EXPECT_EQ(table.engines[0].inst, 3u);
    EXPECT_EQ(table.engines[0].runlist, 1u);
    EXPECT_STREQ(nvdebug_engine_type_name(table.engines[1].type), "COPY2");
}

// The second of NVIDIA's parser vectors: DATA bit 30 set has no defined layout.
TEST(PtopV1, DataOfAnUndefinedKindIsLeftOut) {
    const Table table = decode(nvdebug_ptop_v1_decode, {0x94230E3E, 0xC8104085, 0x0000004F});
    ASSERT_EQ(table.engines.size(), 1u);
    EXPECT_EQ(table.ignored, 1u);
    EXPECT_FALSE(table.engines[0].has & NVDEBUG_ENGINE_HAS_FAULT_ID);
}

TEST(PtopV1, DamagedTables) {
    EXPECT_EQ(decode(nvdebug_ptop_v1_decode, {}).engines.size(), 0u);
    EXPECT_EQ(decode(nvdebug_ptop_v1_decode, {0x8006183E}).ignored, 1u); // cut off in a chain
    EXPECT_EQ(decode(nvdebug_ptop_v1_decode, {0x0006183E}).ignored, 1u); // a device of no type
    const Words endless(64, 0x8000004F);
    EXPECT_EQ(decode(nvdebug_ptop_v1_decode, endless).engines.size(), 0u);
}

TEST(PtopV1, MoreEnginesThanRoom) {
    const Words words(3, 0x00000003);
    nvdebug_engine engines[2];
    EXPECT_EQ(nvdebug_ptop_v1_decode(words.data(), words.size(), engines, 2, nullptr), -ENOSPC);
}

TEST(PtopV2, Cfg) {
    nvdebug_ptop_cfg cfg{};
    EXPECT_EQ(nvdebug_ptop_v2_cfg_decode(0x16130992, 2, &cfg), 0);
    EXPECT_EQ(cfg.version, 2u);
    EXPECT_EQ(cfg.max_devices, 153u);
    EXPECT_EQ(cfg.max_rows_per_device, 3u);
    EXPECT_EQ(cfg.num_rows, 353u);
    EXPECT_EQ(nvdebug_ptop_v2_cfg_decode(0x16130991, 2, &cfg), -EPROTO);
    EXPECT_EQ(nvdebug_ptop_v2_cfg_decode(0x00030992, 2, &cfg), -ERANGE);
    EXPECT_EQ(nvdebug_ptop_v2_cfg_decode(0x20030992, 2, &cfg), 0);       // 512 rows
    EXPECT_EQ(nvdebug_ptop_v2_cfg_decode(0x20130992, 2, &cfg), -ERANGE); // 513 rows
}

TEST(PtopV2, CfgOfVersion3) {
    nvdebug_ptop_cfg cfg{};
    EXPECT_EQ(nvdebug_ptop_v2_cfg_decode(0x098303C3, 2, &cfg), -EPROTO);
    EXPECT_EQ(nvdebug_ptop_v2_cfg_decode(0x098303C3, 3, &cfg), 0);
    EXPECT_EQ(cfg.version, 3u);
    EXPECT_EQ(cfg.num_rows, 152u);
    EXPECT_EQ(nvdebug_ptop_v2_cfg_decode(0x098303C2, 3, &cfg), 0);
    EXPECT_EQ(nvdebug_ptop_v2_cfg_decode(0x098303C1, 3, &cfg), -EPROTO);
    EXPECT_EQ(nvdebug_ptop_v2_cfg_decode(0x098303C4, 3, &cfg), -EPROTO);
}

// LCE4 and LCE5 with a RESET_ID of 255, 0 and 254.
TEST(PtopV2, ResetIdsThatAreNone) {
    for (const std::uint32_t id : {0xFFu, 0x00u, 0xFEu}) {
        const Words words = {0x93040045, 0xC0104000 | id, 0x00C01000};
        const unsigned has = NVDEBUG_ENGINE_HAS_RESET_ID;
        EXPECT_EQ(decode(nvdebug_ptop_v2_decode, words).engines.at(0).has & has, id ? has : 0u);
        EXPECT_EQ(decode(nvdebug_ptop_gb202_decode, words).engines.at(0).has & has,
                  id == 0xFE ? has : 0u);
    }
}

// RTX 6000 Ada, encoded by hand: GR0 and LCE1 on one runlist, NVENC2 on another.
TEST(PtopV2, Ada) {
    const Table table = decode(nvdebug_ptop_v2_decode,
                               {0x80000040, 0xC0400000, 0x00D00000, 0, 0, 0x93010010, 0xC0104000,
                                0x00D00002, 0x8E02000D, 0xC01D0000, 0x00D0A000, 0});
    ASSERT_EQ(table.engines.size(), 3u);
    const nvdebug_engine &gr = table.engines[0], &lce1 = table.engines[1],
                         &nvenc2 = table.engines[2];
    EXPECT_STREQ(nvdebug_engine_type_name(gr.type), "GR");
    EXPECT_EQ(gr.fault_id, 64u);
    EXPECT_EQ(gr.pri_base, 0x400000u);
    EXPECT_EQ(gr.runlist_base, 0xD00000u);
    EXPECT_EQ(gr.rleng, 0u);
    EXPECT_STREQ(nvdebug_engine_type_name(lce1.type), "LCE");
    EXPECT_EQ(lce1.inst, 1u);
    EXPECT_EQ(lce1.fault_id, 16u);
    EXPECT_EQ(lce1.runlist_base, gr.runlist_base);
    EXPECT_EQ(lce1.rleng, 2u);
    EXPECT_STREQ(nvdebug_engine_type_name(nvenc2.type), "NVENC");
    EXPECT_EQ(nvenc2.inst, 2u);
    EXPECT_EQ(nvenc2.pri_base, 0x1D0000u);
    EXPECT_EQ(nvenc2.runlist_base, 0xD0A000u);
    for (const nvdebug_engine &engine : table.engines)
        EXPECT_TRUE(engine.has & NVDEBUG_ENGINE_HAS_RUNLIST_BASE);
}

TEST(PtopV2, DevicesWithoutAnEngineAreLeftOut) {
    // GSP in two rows; type 0x33 in three rows with IS_ENGINE clear.
    const Table table = decode(nvdebug_ptop_v2_decode,
                               {0x94000002, 0x00110000, 0xB3000000, 0x80088000, 0x00D00000});
    ASSERT_EQ(table.engines.size(), 2u);
    for (const nvdebug_engine &engine : table.engines)
        EXPECT_FALSE(engine.has & NVDEBUG_ENGINE_HAS_RUNLIST_BASE);
    EXPECT_STREQ(nvdebug_engine_type_name(table.engines[0].type), "GSP");
    EXPECT_EQ(table.engines[1].pri_base, 0x088000u);
}

// A register block at 0 does not exist.
TEST(PtopV2, EngineMayHaveNoRunlist) {
    for (const std::uint32_t base : {0u, 0x00D00000u}) {
        const Table table = decode(nvdebug_ptop_v2_decode, {0x93040045, 0xC0104001, 2 | base});
        ASSERT_EQ(table.engines.size(), 1u);
        EXPECT_EQ(table.engines[0].has & NVDEBUG_ENGINE_HAS_RUNLIST_BASE,
                  base ? unsigned{NVDEBUG_ENGINE_HAS_RUNLIST_BASE} : 0u);
    }
    const Table two_rows = decode(nvdebug_ptop_v2_decode, {0x93040045, 0x40104001});
    ASSERT_EQ(two_rows.engines.size(), 1u);
    EXPECT_FALSE(two_rows.engines[0].has & NVDEBUG_ENGINE_HAS_RUNLIST_BASE);
}

TEST(PtopV2, MoreEnginesThanRoom) {
    const Words words = {0x94000002, 0x00110000, 0x94000002, 0x00110000, 0x94000002, 0x00110000};
    nvdebug_engine engines[2];
    EXPECT_EQ(nvdebug_ptop_v2_decode(words.data(), words.size(), engines, 2, nullptr), -ENOSPC);
    EXPECT_EQ(nvdebug_ptop_v2_decode(words.data(), 4, engines, 2, nullptr), 2);
}

TEST(PtopV2, DamagedTables) {
    EXPECT_EQ(decode(nvdebug_ptop_v2_decode, {0x00000040}).ignored, 1u); // one row is too little
    EXPECT_EQ(decode(nvdebug_ptop_v2_decode, {0x80000040, 0xC0400000}).ignored, 1u); // cut off
    EXPECT_EQ(decode(nvdebug_ptop_v2_decode, {0x80000040, 0x80000000, 0x80000000, 0x0}).ignored,
              1u); // four rows
    const Words endless(NVDEBUG_PTOP_MAX_ROWS, 0x80000040);
    EXPECT_EQ(decode(nvdebug_ptop_v2_decode, endless).engines.size(), 0u);
}

TEST(EngineTypes, PublishedNamesAndOthers) {
    EXPECT_STREQ(nvdebug_engine_type_name(0), "GR");
    EXPECT_STREQ(nvdebug_engine_type_name(13), "SEC");
    EXPECT_STREQ(nvdebug_engine_type_name(14), "NVENC");
    EXPECT_STREQ(nvdebug_engine_type_name(16), "NVDEC");
    EXPECT_STREQ(nvdebug_engine_type_name(18), "IOCTRL");
    EXPECT_STREQ(nvdebug_engine_type_name(19), "LCE");
    EXPECT_STREQ(nvdebug_engine_type_name(21), "NVJPG");
    EXPECT_STREQ(nvdebug_engine_type_name(22), "OFA");
    for (std::uint32_t unpublished : {4u, 17u, 50u, 127u, 0x1FFFFFFFu, 0xFFFFFFFFu})
        EXPECT_EQ(nvdebug_engine_type_name(unpublished), nullptr) << unpublished;
    for (std::uint32_t behind = NV_PTOP_TYPE_HUBMMU + 1; behind < 128; behind++)
        EXPECT_EQ(nvdebug_engine_type_name(behind), nullptr) << behind;
}

// Every field has its end bits set and ones all around it, so that a mask that is a bit too narrow
// or too wide shows.
TEST(PtopV1, FieldsAmongOnes) {
    const Table table =
        decode(nvdebug_ptop_v1_decode, {0xE31861FE, 0x23801E0D | 0x80000000, 0x0000004F});
    ASSERT_EQ(table.engines.size(), 1u);
    expect_v1(table.engines[0], {"LCE", 8, 8, 8, 16, 16, 0x801000, 65});
}

TEST(PtopV1, InvalidFieldsDoNotCount) {
    // The same ENUM word with one valid bit (5 to 2) at a time.
    const std::pair<std::uint32_t, unsigned> valid[] = {{1u << 5, NVDEBUG_ENGINE_HAS_ID},
                                                        {1u << 4, NVDEBUG_ENGINE_HAS_RUNLIST},
                                                        {1u << 3, NVDEBUG_ENGINE_HAS_INTR_ID},
                                                        {1u << 2, NVDEBUG_ENGINE_HAS_RESET_ID}};
    for (const auto &[bit, has] : valid) {
        const Table table =
            decode(nvdebug_ptop_v1_decode, {(0xE31861FE & ~0x3Cu) | bit, 0x0000004F});
        ASSERT_EQ(table.engines.size(), 1u);
        EXPECT_EQ(table.engines[0].has, has);
    }
}

TEST(PtopV2, FieldsAmongOnes) {
    const Table table = decode(nvdebug_ptop_v2_decode, {0xC181FC01, 0xFE000181, 0x7E0007FE});
    ASSERT_EQ(table.engines.size(), 1u);
    const nvdebug_engine &engine = table.engines[0];
    EXPECT_EQ(engine.type, 65u);
    EXPECT_EQ(engine.inst, 129u);
    EXPECT_EQ(engine.fault_id, 1025u);
    EXPECT_EQ(engine.pri_base, 0x02000100u);
    EXPECT_EQ(engine.reset_id, 0x81u);
    EXPECT_EQ(engine.runlist_base, 0x02000400u);
    EXPECT_EQ(engine.rleng, 2u);

    nvdebug_ptop_cfg cfg{};
    EXPECT_EQ(nvdebug_ptop_v2_cfg_decode(0x10088012, 2, &cfg), 0);
    EXPECT_EQ(cfg.max_devices, 0x801u);
    EXPECT_EQ(cfg.max_rows_per_device, 8u);
    EXPECT_EQ(cfg.num_rows, 0x100u);
}

} // namespace
