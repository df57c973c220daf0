// SPDX-License-Identifier: MIT OR GPL-2.0
// Probing the runlists from Ampere on. Each has a block of registers of its own, here with unusual
// values.
#include "probe.hpp"

extern "C" {
#include "chips/chips.h"
#include "hw/pmc.h"
#include "hw/ptop.h"
#include "hw/runlist.h"
#include "hw/usermode.h"
}

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace core {
namespace {

class Blocks : public Probe {
  protected:
    Blocks() {
        EXPECT_EQ(machine.probe(), 0);
        block = gpu()->chip->runlist->block;
        // The blocks are in the order of the table.
        for (u32 i = 0; i < gpu()->topology.engines; i++) {
            const nvdebug_engine &engine = gpu()->topology.engine[i];
            if (!nvdebug_engine_has(&engine, NVDEBUG_ENGINE_HAS_RUNLIST_BASE))
                continue;
            if (!std::ranges::count(bases, engine.runlist_base)) {
                bases.push_back(engine.runlist_base);
                ids.push_back(engine.runlist);
            }
        }
    }
    [[nodiscard]] u32 doorbell(std::size_t n) const { return bases.at(n) + block->doorbell_config; }
    [[nodiscard]] static u32 is(u32 id) { return id << 16; }
    std::string listed(std::vector<u32> some) {
        std::ranges::sort(some);
        std::string text;
        for (const u32 id : some)
            text += (text.empty() ? "" : " ") + std::to_string(id);
        return text;
    }
    [[nodiscard]] std::map<u32, u32> base_of_id() {
        std::map<u32, u32> all;
        for (u32 i = 0; i < gpu()->topology.runlists; i++)
            all[gpu()->topology.runlist[i].id] = gpu()->topology.runlist[i].base;
        return all;
    }

    const nvdebug_runlist_block *block = nullptr;
    std::vector<u32> bases, ids;
};

TEST_P(Blocks, RunlistWithoutAnIdIsDropped) {
    for (const std::size_t n : {std::size_t{0}, bases.size() / 2, bases.size() - 1}) {
        lie({{doorbell(n), error_word}});
        ASSERT_EQ(probe(), 0);
        std::vector<u32> others = ids;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(n));
        expect_runlists(listed(others) + " (and 1 that do not tell their id)");
        EXPECT_EQ(nvdebug_runlist_find(&gpu()->topology, ids[n]), nullptr);
        for (const auto &[id, base] : base_of_id())
            EXPECT_EQ(
                ids.at(static_cast<std::size_t>(std::ranges::find(bases, base) - bases.begin())),
                id);
        ASSERT_GE(machine.warnings.size(), 1U);
        EXPECT_EQ(machine.warnings[0], std::to_string(ids.size() - 1) + " of " +
                                           std::to_string(ids.size()) +
                                           " runlists tell their id\n");
    }
}

/// A doorbell has seven bits for the id, and an id of seven ones means none.
TEST_P(Blocks, LargestIdIsAccepted) {
    lie({{doorbell(0), is(0x7e)}});
    ASSERT_EQ(probe(), 0);
    EXPECT_EQ(base_of_id().at(0x7e), bases[0]);
    lie({{doorbell(0), is(0x7f)}});
    ASSERT_EQ(probe(), 0);
    EXPECT_EQ(base_of_id().size(), bases.size() - 1);
    lie({{doorbell(0), is(0x100)}});
    ASSERT_EQ(probe(), 0);
    EXPECT_EQ(base_of_id().size(), bases.size() - 1);
}

/// If two runlists have the same id, or if none has one, the runlists are numbered in the order of
/// the table.
TEST_P(Blocks, AreCountedIfIdsAreUnusable) {
    std::map<u32, u32> wanted;
    for (u32 i = 0; i < bases.size(); i++)
        wanted[i] = bases[i];
    const std::string counted = " (order of the table: DOORBELL_CONFIG unusable)";
    std::vector<u32> order;
    std::map<u32, u32> none;
    for (std::size_t n = 0; n < bases.size(); n++) {
        order.push_back(static_cast<u32>(n));
        none[doorbell(n)] = error_word;
    }
    lie(none);
    ASSERT_EQ(probe(), 0);
    expect_runlists(listed(order) + counted);
    EXPECT_EQ(base_of_id(), wanted);
    EXPECT_EQ(machine.warnings.at(0),
              "0 of " + std::to_string(ids.size()) + " runlists tell their id\n");
    // The first runlist does not show its id either.
    lie({{doorbell(0), error_word}, {doorbell(1), is(5)}, {doorbell(2), is(5)}});
    ASSERT_EQ(probe(), 0);
    expect_runlists(listed(order) + counted);
    EXPECT_EQ(base_of_id(), wanted);
    EXPECT_EQ(machine.warnings.at(0), std::to_string(ids.size() - 1) + " of " +
                                          std::to_string(ids.size()) +
                                          " runlists tell their id, but two the same\n");
    // The next probe forgets the numbers.
    machine.on_read = nullptr;
    ASSERT_EQ(probe(), 0);
    expect_runlists(listed(ids));
}

TEST_P(Blocks, UnusablePbdmasAreDropped) {
    const u32 config = gpu()->topology.runlist[0].base + block->pbdma_config;
    const u32 usual = gpu()->topology.runlist[0].pbdmas;
    ASSERT_GE(usual, 1U);
    const u32 was = machine.peek(config);
    for (const u32 value :
         std::initializer_list<u32>{error_word, was & 0x7fffffff, 0x8003fc00U, 0x80000000U}) {
        lie({{config, value}});
        ASSERT_EQ(probe(), 0);
        EXPECT_EQ(gpu()->topology.runlist[0].pbdmas, usual - 1) << hex(value);
    }
    lie({{config, 0x80040007}});
    ASSERT_EQ(probe(), 0);
    EXPECT_EQ(gpu()->topology.runlist[0].pbdma[0].base, 0x40000U);
    // The block has the PBDMA's number on the RTX 5090. On other chips the address of its registers
    // gives the number.
    EXPECT_EQ(gpu()->topology.runlist[0].pbdma[0].number, GetParam() == "rtx5090" ? 7U : 0U);
}

/// A channel RAM is accepted if it lies within BAR0 and has as many channels as the chip can have.
TEST_P(Blocks, ImpossibleChannelRamIsRefused) {
    const u32 config = gpu()->topology.runlist[0].base + block->channel_config;
    const u32 right = machine.peek(config), log2 = right & 0xf;
    constexpr u32 bar0 = 16U << 20;
    const bool fixed = gpu()->chip->runlist->channels != 0;
    const std::map<u32, bool> cases{{right, true},
                                    {right & ~0xfU, false},         // one channel
                                    {(right & ~0xfU) | 13, false},  // more than ids have bits for
                                    {(right & ~0xfU) | 12, !fixed}, // as many
                                    {(right & ~0xfU) | 1, !fixed},  // two
                                    {log2, false},                  // nowhere
                                    {1, false},
                                    {(bar0 - (4U << log2)) | log2, true}, // the last that fits
                                    {(bar0 - (4U << log2) + 16) | log2, false},
                                    {0xffffff00 | log2, false},
                                    {error_word, false}};
    for (const auto &[value, good] : cases) {
        lie({{config, value}});
        ASSERT_EQ(probe(), 0);
        EXPECT_EQ(gpu()->topology.runlist[0].channels != 0, good) << hex(value);
        EXPECT_EQ(machine.warnings.size(), good ? 0U : 1U) << hex(value);
        if (!good) {
            EXPECT_EQ(machine.warnings.at(0), "runlist 0 does not answer yet\n");
            EXPECT_EQ(open("runlist0_brief").error, -EIO) << hex(value);
            const Text contexts = open("contexts");
            EXPECT_EQ(contexts.error, 0) << hex(value);
            EXPECT_NE(contexts.text.find("\n0 - - - - - - - unreadable\n"), std::string::npos)
                << contexts.text;
            machine.on_read = [](u32) { return std::optional(~0U); };
            EXPECT_EQ(open("runlist0_brief").error, -ENODEV) << hex(value);
            // The next use reads the register again.
            machine.on_read = nullptr;
            EXPECT_EQ(open("runlist0_brief").error, 0) << hex(value);
        }
    }
}

/// The registers of an engine are not read if the runlist's block has no room for them.
TEST_P(Blocks, EngineOfAMissingSlotHasNoRegisters) {
    nvdebug_engine *const engine = gpu()->topology.engine;
    const nvdebug_status_ops *const status = gpu()->chip->status;
    const u32 first = engine->runlist_base + block->engine_status0;
    engine->rleng = block->engines - 1;
    EXPECT_EQ(status->engine_reg(gpu(), engine), first + 0x40 * (block->engines - 1));
    const u32 channel = status->channel_reg(gpu(), engine, 1);
    EXPECT_EQ(channel != 0, block->engine_status_channel != 0);
    EXPECT_EQ(status->channel_reg(gpu(), engine, 2), 0U); // there are two PBDMAs
    engine->rleng = block->engines;
    EXPECT_EQ(status->engine_reg(gpu(), engine), 0U);
    EXPECT_EQ(status->channel_reg(gpu(), engine, 0), 0U);
}

/// The table of devices names a slot that the block does not have, so the id is not read either.
TEST_P(Blocks, EngineOfAMissingSlotHasNoId) {
    const u32 base = gpu()->topology.engine[0].runlist_base;
    u32 row = NV_PTOP_DEVICE_INFO2(0);
    while ((machine.peek(row) & NV_PTOP_DEVICE_INFO2_DEV_RUNLIST_PRI_BASE) != base) {
        row += 4;
        ASSERT_LT(row, NV_PTOP_DEVICE_INFO2(512));
    }
    const u32 was = machine.peek(row);
    ASSERT_EQ(was & NV_PTOP_DEVICE_INFO2_DEV_RLENG_ID, 0U);
    for (const u32 rleng : {block->engines - 1U, block->engines + 0U}) {
        const bool there = rleng < block->engines;
        const u32 slot = base + NV_RUNLIST_ENGINE_STATUS__STRIDE * rleng;
        machine.expected.clear();
        lie({{row, was | rleng}, {slot + block->engine_status_debug, 0}});
        ASSERT_EQ(probe(), 0);
        EXPECT_EQ(gpu()->topology.engine[0].rleng, rleng);
        EXPECT_EQ(nvdebug_engine_has(&gpu()->topology.engine[0], NVDEBUG_ENGINE_HAS_ID), there);
        // The register may be another engine's, too, so it is enough that it is read or not.
        EXPECT_EQ(std::ranges::count(machine.expected, slot + block->engine_status_debug) != 0,
                  there);
    }
}

INSTANTIATE_TEST_SUITE_P(Boards, Blocks, testing::Values("a100", "h200", "b200", "rtx5090"),
                         name_of_board);

} // namespace
} // namespace core
