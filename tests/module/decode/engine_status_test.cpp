// SPDX-License-Identifier: MIT OR GPL-2.0
// The channel or TSG on an engine or PBDMA. PFIFO has it up to Turing; the runlist and the PBDMA
// have it from Ampere on.
#include <gtest/gtest.h>

#include "decode/engine_status.h"

namespace {

nvdebug_engine_status gk104(std::uint32_t word) {
    nvdebug_engine_status status;
    nvdebug_engine_status_gk104(word, &status);
    return status;
}

nvdebug_engine_status ga100(std::uint32_t word) {
    nvdebug_engine_status status;
    nvdebug_engine_status_ga100(word, &status);
    return status;
}

void expect_owner(const nvdebug_ctx_owner &owner, bool is_tsg, unsigned id) {
    EXPECT_TRUE(owner.there);
    EXPECT_EQ(owner.is_tsg, is_tsg);
    EXPECT_EQ(owner.id, id);
}

// The words are made from the fields of the manuals: TSG 5 runs and is busy.
TEST(EngineStatus, Valid) {
    for (const nvdebug_engine_status &status : {gk104(0x80003005), ga100(0x80002005)}) {
        EXPECT_EQ(status.ctx.state, NVDEBUG_CTX_VALID);
        expect_owner(status.ctx.owner, true, 5);
        EXPECT_FALSE(status.ctx.next.there);
        EXPECT_TRUE(status.busy);
        EXPECT_FALSE(status.faulted);
        EXPECT_FALSE(status.reload);
    }
}

TEST(EngineStatus, ABareChannelUpToTuring) {
    const nvdebug_engine_status status = gk104(0x00002FFF);
    expect_owner(status.ctx.owner, false, 4095);
    EXPECT_FALSE(status.busy);
}

TEST(EngineStatus, LoadAndSaveSwappedTheirNumbers) {
    // A Volta loads TSG 6. The fields for the owner have no meaning then.
    const nvdebug_engine_status load = gk104(0x9006A000);
    EXPECT_EQ(load.ctx.state, NVDEBUG_CTX_LOAD);
    EXPECT_EQ(load.ctx.code, 5);
    EXPECT_FALSE(load.ctx.owner.there);
    expect_owner(load.ctx.next, true, 6);
    // The same number means on Ampere that TSG 0 is being saved.
    const nvdebug_engine_status save = ga100(0x9006A000);
    EXPECT_EQ(save.ctx.state, NVDEBUG_CTX_SAVE);
    expect_owner(save.ctx.owner, true, 0);
    EXPECT_FALSE(save.ctx.next.there);

    EXPECT_EQ(gk104(0x0000C003).ctx.state, NVDEBUG_CTX_SAVE);
    expect_owner(gk104(0x0000C003).ctx.owner, false, 3);
    EXPECT_EQ(ga100(0x0007C003).ctx.state, NVDEBUG_CTX_LOAD);
    expect_owner(ga100(0x0007C003).ctx.next, true, 7);
    EXPECT_FALSE(ga100(0x0007C003).ctx.owner.there);
}

TEST(EngineStatus, Switch) {
    const nvdebug_engine_status status = ga100(0x8006E005);
    EXPECT_EQ(status.ctx.state, NVDEBUG_CTX_SWITCH);
    expect_owner(status.ctx.owner, true, 5);
    expect_owner(status.ctx.next, true, 6);
    // The switch is from a TSG to a channel.
    const nvdebug_engine_status mixed = gk104(0x0006F005);
    expect_owner(mixed.ctx.owner, true, 5);
    expect_owner(mixed.ctx.next, false, 6);
}

TEST(EngineStatus, NobodyAndUndefined) {
    const nvdebug_engine_status invalid = gk104(0x1FFF1FFF);
    EXPECT_EQ(invalid.ctx.state, NVDEBUG_CTX_INVALID);
    EXPECT_FALSE(invalid.ctx.owner.there || invalid.ctx.next.there);
    for (unsigned code : {2u, 3u, 4u}) {
        const nvdebug_engine_status status = ga100(code << 13 | 5);
        EXPECT_EQ(status.ctx.state, NVDEBUG_CTX_UNDEFINED);
        EXPECT_EQ(status.ctx.code, code);
        EXPECT_FALSE(status.ctx.owner.there || status.ctx.next.there);
        EXPECT_EQ(nvdebug_ctx_state_name(NVDEBUG_CTX_UNDEFINED), nullptr);
    }
}

TEST(EngineStatus, Flags) {
    EXPECT_TRUE(gk104(0x20000000).reload);
    EXPECT_TRUE(gk104(0x40000000).faulted);
    EXPECT_FALSE(gk104(0x60000000).busy);
    EXPECT_TRUE(ga100(0x20000000).reload);
    EXPECT_TRUE(ga100(0x40000000).faulted);
}

TEST(EngineStatus, Pbdma) {
    nvdebug_ctx_status status;
    nvdebug_pbdma_status_gk104(0x1002F001, &status);
    EXPECT_EQ(status.state, NVDEBUG_CTX_SWITCH);
    expect_owner(status.owner, true, 1);
    expect_owner(status.next, true, 2);
    nvdebug_pbdma_status_ga100(0x0000A801, &status);
    EXPECT_EQ(status.state, NVDEBUG_CTX_SAVE);
    expect_owner(status.owner, true, 0x801);
}

// The words have the end bits of each field, with ones around it.
TEST(EngineStatus, FieldsAmongOnes) {
    const nvdebug_engine_status status = gk104(0xF801F801);
    EXPECT_EQ(status.ctx.state, NVDEBUG_CTX_SWITCH);
    expect_owner(status.ctx.owner, true, 0x801);
    expect_owner(status.ctx.next, true, 0x801);
    EXPECT_EQ(gk104(0xFFFF3FFF).ctx.state, NVDEBUG_CTX_VALID);
}

TEST(EngineStatus, Names) {
    EXPECT_STREQ(nvdebug_ctx_state_name(NVDEBUG_CTX_INVALID), "invalid");
    EXPECT_STREQ(nvdebug_ctx_state_name(NVDEBUG_CTX_LOAD), "load");
    EXPECT_STREQ(nvdebug_ctx_state_name(NVDEBUG_CTX_SAVE), "save");
    EXPECT_STREQ(nvdebug_ctx_state_name(NVDEBUG_CTX_SWITCH), "switch");
}

} // namespace
