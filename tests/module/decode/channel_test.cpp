// SPDX-License-Identifier: MIT OR GPL-2.0
// Channel registers, and the words that enable and disable a channel.
#include <gtest/gtest.h>

#include "decode/channel.h"

namespace {

TEST(Pccsr, RunningChannel) {
    // STATUS 27:24 = 6 (on PBDMA and engine), BUSY 28, ENABLE 0
    nvdebug_pccsr channel{};
    nvdebug_pccsr_decode(0x16000001, &channel);
    EXPECT_TRUE(channel.enabled);
    EXPECT_TRUE(channel.busy);
    EXPECT_FALSE(channel.next);
    EXPECT_EQ(channel.status, 6);
    EXPECT_STREQ(nvdebug_channel_status_name(channel.status), "ON_PBDMA_AND_ENG");
}

TEST(Pccsr, EachBitOnItsOwn) {
    const std::pair<std::uint32_t, bool nvdebug_pccsr::*> bits[] = {
        {1u << 0, &nvdebug_pccsr::enabled},          {1u << 1, &nvdebug_pccsr::next},
        {1u << 8, &nvdebug_pccsr::force_ctx_reload}, {1u << 10, &nvdebug_pccsr::enable_set},
        {1u << 11, &nvdebug_pccsr::enable_clear},    {1u << 22, &nvdebug_pccsr::pbdma_faulted},
        {1u << 23, &nvdebug_pccsr::eng_faulted},     {1u << 28, &nvdebug_pccsr::busy}};
    for (const auto &[word, field] : bits) {
        nvdebug_pccsr channel{};
        nvdebug_pccsr_decode(word, &channel);
        for (const auto &[other, member] : bits)
            EXPECT_EQ(channel.*member, other == word) << std::hex << word << " " << other;
        EXPECT_EQ(channel.status, 0);
    }
}

TEST(Pccsr, Instance) {
    nvdebug_instance_place inst{};
    nvdebug_pccsr_inst_decode(0xA0012345, &inst);
    EXPECT_TRUE(inst.bound);
    EXPECT_EQ(inst.aperture, 2);
    EXPECT_EQ(inst.addr, 0x12345000u);
    nvdebug_pccsr_inst_decode(0x0FFFFFFF, &inst);
    EXPECT_FALSE(inst.bound);
    EXPECT_EQ(inst.addr, 0xFFFFFFF000u);
}

TEST(Pccsr, EnablingWritesTheTriggerAndNothingElseThatActs) {
    EXPECT_EQ(nvdebug_pccsr_enable_word_gk104(0x16000003, true), 0x16000403u);
    EXPECT_EQ(nvdebug_pccsr_enable_word_gk104(0x16000003, false), 0x16000803u);
    // Up to Pascal bits 8 to 11 act when written.
    EXPECT_EQ(nvdebug_pccsr_enable_word_gk104(0x16050002, false), 0x16050802u)
        << "Kepler has the channel's runlist in 19:16";
    EXPECT_EQ(nvdebug_pccsr_enable_word_gk104(0x00000F00, true), 0x00000400u);
    // From Volta on writing back bits 20 to 23 would raise or acknowledge faults.
    EXPECT_EQ(nvdebug_pccsr_enable_word_gv100(0x06F00F03, true), 0x06000403u);
    EXPECT_EQ(nvdebug_pccsr_enable_word_gv100(0x06F00F03, false), 0x06000803u);
}

TEST(Chram, RunningChannel) {
    // bits 1 enable, 3 busy, 6 on PBDMA, 7 on engine, 10 and 11 busy
    nvdebug_chram channel{};
    nvdebug_chram_decode(0x00000CCA, &channel);
    EXPECT_TRUE(channel.enabled && channel.busy && channel.on_pbdma && channel.on_eng &&
                channel.pbdma_busy && channel.eng_busy);
    EXPECT_FALSE(channel.next || channel.pbdma_faulted || channel.eng_faulted || channel.pending ||
                 channel.ctx_reload || channel.acquire_fail);
    EXPECT_STREQ(nvdebug_channel_status_name(channel.status), "ON_PBDMA_AND_ENG");
}

TEST(Chram, EachBitOnItsOwn) {
    const std::pair<std::uint32_t, bool nvdebug_chram::*> bits[] = {
        {1u << 1, &nvdebug_chram::enabled},     {1u << 2, &nvdebug_chram::next},
        {1u << 3, &nvdebug_chram::busy},        {1u << 4, &nvdebug_chram::pbdma_faulted},
        {1u << 5, &nvdebug_chram::eng_faulted}, {1u << 6, &nvdebug_chram::on_pbdma},
        {1u << 7, &nvdebug_chram::on_eng},      {1u << 8, &nvdebug_chram::pending},
        {1u << 9, &nvdebug_chram::ctx_reload},  {1u << 10, &nvdebug_chram::pbdma_busy},
        {1u << 11, &nvdebug_chram::eng_busy},   {1u << 12, &nvdebug_chram::acquire_fail}};
    for (const auto &[word, field] : bits) {
        nvdebug_chram channel{};
        nvdebug_chram_decode(word, &channel);
        for (const auto &[other, member] : bits)
            EXPECT_EQ(channel.*member, other == word) << std::hex << word << " " << other;
    }
}

TEST(Chram, StatusInTheVocabularyOfPccsr) {
    const std::pair<std::uint32_t, const char *> states[] = {
        {0x000, "IDLE"},
        {0x002, "IDLE"},
        {0x102, "PENDING"},
        {0x302, "PENDING_CTX_RELOAD"},
        {0x1102, "PENDING_ACQUIRE"},
        {0x1302, "PENDING_ACQ_CTX_RELOAD"},
        {0x042, "ON_PBDMA"},
        {0x242, "ON_PBDMA_CTX_RELOAD"},
        {0x0C2, "ON_PBDMA_AND_ENG"},
        {0x2C2, "ON_PBDMA_AND_ENG_CTX_RELOAD"},
        {0x082, "ON_ENG"},
        {0x282, "ON_ENG_CTX_RELOAD"},
        {0x182, "ON_ENG_PENDING"},
        {0x382, "ON_ENG_PENDING_CTX_RELOAD"},
        {0x1182, "ON_ENG_PENDING_ACQUIRE"},
        {0x1382, "ON_ENG_PENDING_ACQ_CTX_RELOAD"},
    };
    for (const auto &[word, name] : states) {
        nvdebug_chram channel{};
        nvdebug_chram_decode(word, &channel);
        EXPECT_STREQ(nvdebug_channel_status_name(channel.status), name) << std::hex << word;
    }
}

TEST(Chram, UpdateValues) {
    for (std::uint32_t old : {0u, 0xCCAu, 0x1FFFu}) {
        EXPECT_EQ(nvdebug_chram_enable_word(old, true), 0x2u);
        EXPECT_EQ(nvdebug_chram_enable_word(old, false), 0x3u);
    }
}

TEST(Enabled, IsAnotherBitInEachRegister) {
    EXPECT_TRUE(nvdebug_pccsr_is_enabled(0x1));
    EXPECT_FALSE(nvdebug_pccsr_is_enabled(0x2));
    EXPECT_TRUE(nvdebug_chram_is_enabled(0x2));
    EXPECT_FALSE(nvdebug_chram_is_enabled(0x1));
}

TEST(Status, NamesOfTheManual) {
    const char *names[] = {"IDLE",
                           "PENDING",
                           "PENDING_CTX_RELOAD",
                           "PENDING_ACQUIRE",
                           "PENDING_ACQ_CTX_RELOAD",
                           "ON_PBDMA",
                           "ON_PBDMA_AND_ENG",
                           "ON_ENG",
                           "ON_ENG_PENDING_ACQUIRE",
                           "ON_ENG_PENDING",
                           "ON_PBDMA_CTX_RELOAD",
                           "ON_PBDMA_AND_ENG_CTX_RELOAD",
                           "ON_ENG_CTX_RELOAD",
                           "ON_ENG_PENDING_CTX_RELOAD",
                           "ON_ENG_PENDING_ACQ_CTX_RELOAD"};
    for (std::uint32_t status = 0; status < std::size(names); status++)
        EXPECT_STREQ(nvdebug_channel_status_name(status), names[status]);
    EXPECT_STREQ(nvdebug_channel_status_name(15), "-");
    EXPECT_STREQ(nvdebug_channel_status_name(0xFFFFFFFF), "-");
}

// The words have the end bits of each field, with ones around it.
TEST(Pccsr, FieldsAmongOnes) {
    nvdebug_pccsr channel{};
    nvdebug_pccsr_decode(0xF9FFFFFF, &channel);
    EXPECT_EQ(channel.status, 9);
    nvdebug_instance_place inst{};
    nvdebug_pccsr_inst_decode(0x68000001, &inst);
    EXPECT_EQ(inst.addr, 0x8000001000u);
    EXPECT_EQ(inst.aperture, 2);
    EXPECT_FALSE(inst.bound);
}

} // namespace
