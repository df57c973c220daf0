// SPDX-License-Identifier: MIT OR GPL-2.0
// Status words show whether a TSG can still be on a PBDMA or an engine.
#include <gtest/gtest.h>

#include "decode/occupied.h"

namespace {

struct Who {
    bool is_tsg;
    u32 id;
};

bool is(const void *who, bool is_tsg, u32 id) {
    const auto *wanted = static_cast<const Who *>(who);
    return wanted->is_tsg == is_tsg && wanted->id == id;
}

constexpr Who tsg5{true, 5};
constexpr Who channel5{false, 5};

bool engine(u32 word, const Who &who = tsg5) {
    nvdebug_engine_status status{};
    nvdebug_engine_status_gk104(word, &status);
    return nvdebug_engine_is_occupied(&status.ctx, is, &who);
}

bool engine_ga100(u32 word) {
    nvdebug_engine_status status{};
    nvdebug_engine_status_ga100(word, &status);
    return nvdebug_engine_is_occupied(&status.ctx, is, &tsg5);
}

bool pbdma(u32 word) {
    nvdebug_ctx_status status{};
    nvdebug_pbdma_status_gk104(word, &status);
    return nvdebug_pbdma_is_occupied(&status, is, &tsg5);
}

// ID 11:0, type 12, status 15:13 (1 valid, 5 load, 6 save, 7 switch), NEXT_ID 27:16, type 28
TEST(Occupancy, EngineUpToTuring) {
    EXPECT_FALSE(engine(0x00000000)) << "invalid";
    EXPECT_FALSE(engine(0x00001005)) << "invalid: the id means nothing";
    EXPECT_FALSE(engine(0x00000000, {false, 0})) << "invalid: nor is it channel 0";
    EXPECT_TRUE(engine(0x80003005)) << "valid, busy";
    EXPECT_TRUE(engine(0x00003005)) << "valid, idle";
    EXPECT_FALSE(engine(0x80003006));
    EXPECT_FALSE(engine(0x80002005)) << "a channel of that number";
    EXPECT_TRUE(engine(0x80002005, channel5));
    EXPECT_TRUE(engine(0x8000d005)) << "save";
    EXPECT_FALSE(engine(0x8000d006));
    EXPECT_FALSE(engine(0x8005c005)) << "save: the next one means nothing, nor does a channel";
    EXPECT_TRUE(engine(0x9005a000)) << "load";
    EXPECT_FALSE(engine(0x9006b005)) << "load: the current one means nothing";
    EXPECT_TRUE(engine(0x9007f006)) << "switch: anybody's";
    EXPECT_TRUE(engine(0x00004000)) << "undefined: anybody's";
}

// From Ampere on, 5 means save and 6 means load, and all ids are of TSGs.
TEST(Occupancy, EngineFromAmpereOn) {
    EXPECT_TRUE(engine_ga100(0x80002005));
    EXPECT_TRUE(engine_ga100(0x8000a005)) << "save";
    EXPECT_FALSE(engine_ga100(0x8005a006)) << "save of another";
    EXPECT_TRUE(engine_ga100(0x8005c006)) << "load";
    EXPECT_FALSE(engine_ga100(0x8006c005)) << "load of another";
    EXPECT_TRUE(engine_ga100(0x8007e006)) << "switch: anybody's";
}

TEST(Occupancy, Pbdma) {
    EXPECT_FALSE(pbdma(0x00000000));
    EXPECT_TRUE(pbdma(0x00003005));
    EXPECT_TRUE(pbdma(0x1006f005)) << "switch from it";
    EXPECT_TRUE(pbdma(0x1005f006)) << "switch to it";
    EXPECT_FALSE(pbdma(0x1007f006)) << "switch of others";
    EXPECT_FALSE(pbdma(0x0005f006)) << "switch to a channel of that number";
}

} // namespace
