// SPDX-License-Identifier: MIT OR GPL-2.0
// Runlists, channels, instance blocks and page tables of an H100, as they were while two CUDA
// processes ran (tests/data/h100-two-tasks.txt).
#include <array>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "decode/channel.h"
#include "decode/engine_status.h"
#include "decode/instance.h"
#include "decode/mmu.h"
#include "decode/runlist.h"
#include "hw/runlist.h"

namespace {

struct Words {
    std::map<u64, u32> reg, mem;
};

const Words &h100() {
    static const Words words = [] {
        Words read;
        std::ifstream file(TEST_DATA "/h100-two-tasks.txt");
        for (std::string line; std::getline(file, line);) {
            std::istringstream fields(line);
            std::string kind;
            fields >> kind;
            if (kind == "reg" || kind == "mem") {
                u64 at = 0;
                u32 value = 0;
                fields >> std::hex >> at;
                for (; fields >> value; at += 4)
                    (kind == "reg" ? read.reg : read.mem)[at] = value;
                EXPECT_TRUE(fields.eof()) << line;
            } else {
                EXPECT_TRUE(kind.empty() || kind == "#") << line;
            }
        }
        return read;
    }();
    EXPECT_FALSE(words.reg.empty()) << "tests/data/h100-two-tasks.txt";
    return words;
}

u32 word_of(const std::map<u64, u32> &words, u64 at) {
    const auto found = words.find(at);
    return found == words.end() ? 0 : found->second;
}

u32 reg(u64 at) {
    return word_of(h100().reg, at);
}

u32 mem(u64 at) {
    return word_of(h100().mem, at);
}

std::vector<u32> regs(u64 at, size_t count) {
    std::vector<u32> words;
    for (size_t i = 0; i < count; i++)
        words.push_back(reg(at + 4 * i));
    return words;
}

std::vector<u32> mems(u64 at, size_t count) {
    std::vector<u32> words;
    for (size_t i = 0; i < count; i++)
        words.push_back(mem(at + 4 * i));
    return words;
}

// --- runlists ---

constexpr u64 RUNLIST0 = 0xC00000;

TEST(TwoTasksOnAnH100, RunlistBlocks) {
    const struct {
        u64 base;
        u32 id, pbdma, channel_ram, engine;
    } blocks[] = {{0xC00000, 0, 0x40000, 0xC20000, 0},
                  {0xC00400, 1, 0x41000, 0xC22000, 3},
                  {0xC00800, 3, 0x42800, 0xC24000, 5},
                  {0xC00C00, 10, 0x46800, 0xC26000, 12}};
    for (const auto &block : blocks) {
        const u32 config = reg(block.base + NV_RUNLIST_CHANNEL_CONFIG);
        EXPECT_EQ(config & NV_RUNLIST_CHANNEL_CONFIG_NUM_CHANNELS_LOG2, 11u);
        EXPECT_EQ(config & NV_RUNLIST_CHANNEL_CONFIG_CHRAM_BAR0_OFFSET, block.channel_ram);
        EXPECT_EQ(reg(block.base + NV_RUNLIST_DOORBELL_CONFIG) >> 16, block.id);
        const u32 pbdma = reg(block.base + NV_RUNLIST_PBDMA_CONFIG);
        EXPECT_TRUE(pbdma & NV_RUNLIST_PBDMA_CONFIG_VALID);
        EXPECT_EQ(pbdma & NV_RUNLIST_PBDMA_CONFIG_PBDMA_BAR0_OFFSET, block.pbdma);
        EXPECT_EQ(pbdma & NV_RUNLIST_PBDMA_CONFIG_ID, (block.pbdma - 0x40000) / 0x800);
        EXPECT_EQ(reg(block.base + NV_RUNLIST_ENGINE_STATUS_DEBUG) >> 24 & 0x3F, block.engine);
        // The register has GFID_VALID here, and no INTR_ID as on GA100.
        EXPECT_EQ(reg(block.base + NV_RUNLIST_ENGINE_STATUS1), 0x40000000u);
    }
}

nvdebug_runlist_location location() {
    const auto words = regs(RUNLIST0 + NV_RUNLIST_SUBMIT_BASE_LO, 4);
    nvdebug_runlist_location loc{};
    nvdebug_runlist_location_tu102(words[0], words[1], words[2], words[3],
                                   NV_RUNLIST_SUBMIT_BASE_LO_PTR_LO_GA102,
                                   NV_RUNLIST_SUBMIT_BASE_HI_PTR_HI_GB10B, &loc);
    return loc;
}

TEST(TwoTasksOnAnH100, RunlistAndItsEntries) {
    const nvdebug_runlist_location loc = location();
    EXPECT_EQ(loc.addr, 0x13DB8B0000u);
    EXPECT_EQ(loc.aperture, 0);
    EXPECT_EQ(loc.entries, 20u);
    EXPECT_FALSE(loc.pending);

    std::vector<nvdebug_entry> entries(loc.entries);
    for (size_t i = 0; i < entries.size(); i++) {
        const auto words = mems(loc.addr + 16 * i, 4);
        EXPECT_EQ(nvdebug_entry16_decode(words.data(), words.size(), &entries[i]), 0);
    }
    const struct {
        size_t at;
        unsigned id, members;
        u64 ns;
    } tsgs[] = {{0, 3, 1, 1048576}, {2, 7, 8, 2097152}, {11, 8, 8, 512000}};
    for (const auto &tsg : tsgs) {
        const nvdebug_entry &entry = entries[tsg.at];
        ASSERT_EQ(entry.kind, NVDEBUG_ENTRY_TSG) << tsg.at;
        EXPECT_EQ(entry.id, tsg.id);
        EXPECT_EQ(nvdebug_tsg_members(entries.data(), entries.size(), tsg.at), tsg.members);
        EXPECT_EQ(nvdebug_timeslice_ns(entry.timeout, entry.scale), tsg.ns);
    }
    EXPECT_EQ(entries[1].id, 3);
    EXPECT_EQ(entries[1].inst, 0x13D885A000u);
    EXPECT_EQ(entries[1].inst_aperture, 0);
    EXPECT_EQ(entries[4].id, 12);
    EXPECT_EQ(entries[4].runqueue, 1);
    EXPECT_EQ(entries[4].inst, 0x2810000u);
}

TEST(TwoTasksOnAnH100, ChannelRam) {
    nvdebug_chram channel{};
    nvdebug_chram_decode(reg(0xC20000 + NV_CHRAM_CHANNEL(10)), &channel);
    EXPECT_TRUE(channel.enabled && channel.next && channel.busy && channel.on_pbdma &&
                channel.on_eng && channel.pbdma_busy && channel.eng_busy);
    EXPECT_FALSE(channel.pending || channel.pbdma_faulted || channel.eng_faulted ||
                 channel.ctx_reload || channel.acquire_fail);
    nvdebug_chram_decode(reg(0xC20000 + NV_CHRAM_CHANNEL(11)), &channel);
    EXPECT_TRUE(channel.enabled && channel.next && channel.busy && channel.pending &&
                channel.ctx_reload);
    EXPECT_FALSE(channel.on_eng || channel.on_pbdma);
    nvdebug_chram_decode(reg(0xC20000 + NV_CHRAM_CHANNEL(12)), &channel);
    EXPECT_TRUE(channel.enabled);
    EXPECT_FALSE(channel.next || channel.busy || channel.pending);
}

TEST(TwoTasksOnAnH100, EnginesAndPbdmasShowTheirTsgs) {
    nvdebug_engine_status gr{};
    nvdebug_engine_status_ga100(reg(RUNLIST0 + NV_RUNLIST_ENGINE_STATUS0), &gr);
    EXPECT_EQ(gr.ctx.state, NVDEBUG_CTX_VALID);
    EXPECT_EQ(gr.ctx.owner.id, 8);
    EXPECT_TRUE(gr.busy);
    nvdebug_ctx_status pbdma{};
    nvdebug_pbdma_status_ga100(reg(0x4015C), &pbdma);
    EXPECT_EQ(pbdma.state, NVDEBUG_CTX_VALID);
    EXPECT_EQ(pbdma.owner.id, 8);
    EXPECT_EQ(reg(0x40120), 0x200Bu) << "channel 11, VALID";
    nvdebug_pbdma_status_ga100(reg(0x4095C), &pbdma);
    EXPECT_EQ(pbdma.state, NVDEBUG_CTX_INVALID);
}

// --- instance blocks ---

nvdebug_instance instance(u64 addr) {
    std::vector<u32> words;
    for (const nvdebug_word_range &range : nvdebug_instance_gh100.ranges.range)
        for (unsigned i = 0; i < range.count; i++)
            words.push_back(mem(addr + 4 * (range.first + i)));
    nvdebug_instance block{};
    EXPECT_EQ(nvdebug_instance_decode(&nvdebug_instance_gh100, words.data(), words.size(), &block),
              0);
    return block;
}

TEST(TwoTasksOnAnH100, InstanceBlocks) {
    const nvdebug_instance copy = instance(0x13D885A000);
    EXPECT_EQ(copy.dir.addr, 0x13D8861000u);
    EXPECT_EQ(copy.dir.aperture, 0);
    EXPECT_EQ(copy.wfi, 0x1201F7000u);
    EXPECT_TRUE(copy.wfi_virtual);
    EXPECT_EQ(copy.veid, 0);
    EXPECT_EQ(copy.valid, 3u);

    const nvdebug_instance compute = instance(0x1F0000);
    EXPECT_EQ(compute.version, 3);
    EXPECT_EQ(compute.dir.addr, 0x201000u);
    EXPECT_EQ(compute.wfi, 0x20451A000u);
    EXPECT_TRUE(compute.wfi_virtual);
    EXPECT_EQ(compute.veid, 63);
    EXPECT_EQ(compute.pasid, 0u);
    EXPECT_FALSE(compute.ats);
    EXPECT_EQ(compute.valid, 1ull << 63 | 1);
}

TEST(TwoTasksOnAnH100, Subcontexts) {
    const auto entry = [](u64 block, u32 veid, nvdebug_subcontext &out) {
        const auto words = mems(block + 4 * (168 + 4 * veid), 3);
        return nvdebug_subcontext_decode(veid, words.data(), words.size(), &out);
    };
    nvdebug_subcontext sc{};
    EXPECT_EQ(entry(0x1F0000, 0, sc), 1);
    EXPECT_EQ(sc.dir.addr, 0x13DAAA5000u);
    EXPECT_EQ(entry(0x1F0000, 63, sc), 1);
    EXPECT_EQ(sc.dir.addr, 0x201000u);
    EXPECT_EQ(entry(0x13D885A000, 0, sc), 1);
    EXPECT_EQ(sc.dir.addr, 0x13D8861000u);
    EXPECT_EQ(entry(0x13D885A000, 1, sc), 1);
    EXPECT_EQ(sc.dir.addr, 0x13D8861000u);
    EXPECT_EQ(entry(0x13D885A000, 63, sc), 0) << "0x1: nowhere";
}

// --- page tables ---

// The walk goes as far as words were read: to the directory that points to the last table.
TEST(TwoTasksOnAnH100, PageDirectories) {
    const struct {
        u64 pdb, va;
        std::array<u64, 5> directories;
        u64 big, small;
    } contexts[] = {
        {0x13D8861000,
         0x1201F7000,
         {0x13D8861000, 0x13D8860000, 0x13D885F000, 0x13D885E048, 0x13D885C000},
         0x13D8859F00,
         0x13D885B000},
        {0x201000, 0x20451A000, {0x201000, 0x202000, 0x203000, 0x204080, 0x205220}, 0, 0x24F000}};
    for (const auto &context : contexts) {
        nvdebug_walk walk{};
        nvdebug_walk_start(&walk, &nvdebug_mmu_gh100, context.pdb, 0, context.va);
        u64 addr = 0;
        u8 aperture = 0;
        u32 count = 0;
        while (nvdebug_walk_wants(&walk, &addr, &aperture, &count))
            nvdebug_walk_feed(&walk, mems(addr, count).data());
        ASSERT_GT(walk.steps, 5);
        for (size_t i = 0; i < 5; i++)
            EXPECT_EQ(walk.step[i].addr, context.directories[i]);
        const nvdebug_mmu_entry &last = walk.step[4].entry;
        EXPECT_EQ(last.meaning, NVDEBUG_MMU_DUAL);
        EXPECT_EQ(last.table.present, context.big != 0);
        EXPECT_EQ(last.table.addr, context.big);
        EXPECT_EQ(last.small.addr, context.small);
    }
}

} // namespace
