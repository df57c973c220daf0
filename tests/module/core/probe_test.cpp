// SPDX-License-Identifier: MIT OR GPL-2.0
// Probing a GPU with unusual values in its registers: which tables are accepted, which ones are
// left out, and the text of `info`.
#include "probe.hpp"

extern "C" {
#include "chips/chips.h"
#include "decode/bar.h"
#include "hw/bar.h"
#include "hw/pfifo.h"
#include "hw/pmc.h"
#include "hw/ptop.h"
#include "hw/runlist.h"
#include "hw/usermode.h"
#include "probe/modes.h"
}

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>
#include <vector>

namespace core {
namespace {

class AnyProbe : public Probe {
  protected:
    [[nodiscard]] bool gpu_has_two_dies() { return probe() == 0 && gpu()->chip->ptop->two_dies; }
};

/// The probe reads all registers that it has announced, and it announces the rows of the device
/// tables before it reads them.
TEST_P(AnyProbe, ReadsAllThatItAnnounced) {
    std::map<u32, std::size_t> announced; // each with the number of earlier ones
    std::set<u32> unread;
    machine.on_read = [&](u32 offset) -> std::optional<u32> {
        for (const u32 one : std::exchange(machine.expected, {}))
            unread.insert(one), announced.emplace(one, announced.size());
        unread.erase(offset);
        const bool row = offset >= NV_PTOP_DEVICE_INFO(0) && offset <= NV_PTOP_DEVICE_INFO(63);
        const bool map = offset >= NV_PFIFO_PBDMA_MAP(0) && offset < NV_PFIFO_PBDMA_MAP(14);
        EXPECT_TRUE(!(row || map) || machine.gpu()->chip->channel->per_runlist ||
                    announced.contains(offset))
            << hex(offset);
        return std::nullopt;
    };
    ASSERT_EQ(probe(), 0);
    EXPECT_TRUE(unread.empty()) << hex(*unread.begin());
    EXPECT_TRUE(machine.expected.empty());
    for (const u32 reg : {NV_PMC_BOOT_0, NV_PMC_BOOT_42, NV_PMC_BOOT_1, NV_PTOP_SCAL_NUM_GPCS,
                          NV_PTOP_SCAL_NUM_TPC_PER_GPC, NV_PTOP_SCAL_NUM_CES})
        EXPECT_TRUE(announced.contains(reg)) << hex(reg);
    for (const auto *mode : {gpu()->chip->mig, gpu()->chip->cc})
        EXPECT_TRUE(mode == nullptr || announced.contains(mode->bit[0].reg));
    for (const auto &[offset, number] : announced)
        EXPECT_TRUE(offset % 4 == 0 && offset < (16U << 20)) << hex(offset);
    for (u32 i = 0; i < gpu()->topology.runlists; i++) {
        const auto *const block = gpu()->chip->runlist->block;
        const u32 base = gpu()->topology.runlist[i].base;
        if (block == nullptr)
            continue;
        for (const u32 offset :
             std::initializer_list<u32>{block->doorbell_config, block->channel_config,
                                        block->pbdma_config, block->pbdma_config + 4U})
            EXPECT_TRUE(announced.contains(base + offset)) << hex(base + offset);
    }
    for (u32 i = 0; i < gpu()->topology.engines; i++) {
        const auto *const block = gpu()->chip->runlist->block;
        const nvdebug_engine &engine = gpu()->topology.engine[i];
        if (!nvdebug_engine_has(&engine, NVDEBUG_ENGINE_HAS_RUNLIST_BASE) ||
            engine.rleng >= block->engines)
            continue;
        const u32 slot = engine.runlist_base + NV_RUNLIST_ENGINE_STATUS__STRIDE * engine.rleng;
        EXPECT_TRUE(announced.contains(slot + block->engine_status_debug)) << hex(slot);
        EXPECT_TRUE(!block->engine_status1 || announced.contains(slot + block->engine_status1))
            << hex(slot);
    }
    EXPECT_TRUE(machine.warnings.empty());
}

/// If there is no memory for one of its tables, a GPU is not probed at all.
TEST_P(AnyProbe, FailsWithoutMemory) {
    const u64 before = shim.in_use;
    for (u64 n = 1;; n++) {
        shim.asked = 0;
        shim.refuse = n;
        const int error = probe();
        shim.refuse = 0;
        machine.forget();
        EXPECT_EQ(shim.in_use, before);
        if (shim.asked < n) {
            EXPECT_EQ(error, 0);
            break;
        }
        EXPECT_EQ(error, -ENOMEM) << n;
    }
}

TEST_P(AnyProbe, AnotherChipIsUnknown) {
    const u32 chip = 0x1f7;
    lie({{NV_PMC_BOOT_0, chip << 20 | 0xa1}, {NV_PMC_BOOT_42, chip << 20 | 0xa1 << 12}});
    EXPECT_EQ(probe(), 0);
    EXPECT_EQ(info("chip"), std::vector<std::string>{"unknown"});
    EXPECT_EQ(info("chip_id"), std::vector<std::string>{"0x1f7"});
    EXPECT_EQ(info("feature runlist"), std::vector<std::string>{"no (unknown chip)"});
    EXPECT_EQ(info("feature pram_window"), std::vector<std::string>{"no (unknown chip)"});
    for (const char *const key : {"generation", "channels", "channel_ids", "page_tables",
                                  "video_memory", "bar1_size", "pci_id", "compatible"})
        EXPECT_EQ(info(key), std::vector<std::string>{"-"}) << key;
    expect_runlists("-");
    const char *name = nullptr;
    EXPECT_EQ(nvdebug_chip_find(chip, &name), nullptr);
    EXPECT_EQ(files(machine).size(), 0U);
}

TEST_P(AnyProbe, GpuThatDoesNotAnswerIsLeftAlone) {
    for (const auto &[word, error, said] :
         {std::tuple(error_word, -EIO,
                     "BOOT_0 reads 0xbadf1100 (register bus error): left alone\n"),
          std::tuple(~0U, -ENODEV,
                     "BOOT_0 reads 0xffffffff (off the bus or not decoding): left alone\n")}) {
        lie({{NV_PMC_BOOT_0, word}});
        EXPECT_EQ(probe(), error);
        EXPECT_EQ(machine.warnings, std::vector<std::string>{said});
        EXPECT_EQ(files(machine).size(), 0U);
    }
    // `info` has no chip for a GPU that was never identified, and no features for a GPU that is
    // away.
    nvdebug_attachment attachment = attached();
    attachment.identified = false;
    for (const char *const key : {"chip_id", "revision"})
        EXPECT_EQ(info(key, attachment), std::vector<std::string>{"-"}) << key;
    machine.on_read = nullptr;
    ASSERT_EQ(probe(), 0);
    attachment.away = "asleep";
    for (const char *const feature : {"device_info", "runlist", "pram_window", "engines"})
        EXPECT_EQ(info(std::string("feature ") + feature, attachment),
                  std::vector<std::string>{"no (asleep)"})
            << feature;
}

/// One bit that is set is enough for a mode to be on. A bit that cannot be read may be set.
TEST_P(AnyProbe, ModesAreReadFromTheirBits) {
    ASSERT_EQ(probe(), 0);
    const nvdebug_chip *const chip = gpu()->chip;
    for (const auto &[mode, key, said] :
         {std::tuple(chip->mig, "mig", "MIG is on"),
          std::tuple(chip->cc, "confidential_computing", "confidential computing is on")}) {
        const auto expect = [&, &key = key](const std::map<u32, u32> &values, const char *shown,
                                            const char *why) {
            lie(values);
            gpu()->chip = chip;
            EXPECT_STREQ(machine.locked([&] { return nvdebug_modes_read(gpu(), &gpu()->modes); }),
                         why)
                << key;
            EXPECT_EQ(info(key), std::vector<std::string>{shown}) << key;
        };
        if (mode == nullptr) {
            expect({}, "-", nullptr);
            continue;
        }
        expect({}, "off", nullptr);
        for (const auto &[reg, on] : mode->bit) {
            if (reg == 0)
                continue;
            expect({{reg, on}}, "on", said);
            expect({{reg, ~on & 0x00ffffff}}, "off", nullptr);
            expect({{reg, error_word}}, "unknown", nullptr);
            const auto &other = mode->bit[reg == mode->bit[0].reg ? 1 : 0];
            if (other.reg != 0) {
                expect({{reg, error_word}, {other.reg, other.on}}, "on", said);
            }
            lie({{reg, on}});
            EXPECT_EQ(probe(), -EBUSY);
        }
    }
}

/// All rows of all device tables are empty.
TEST_P(AnyProbe, EmptyDeviceTableLeavesNoRunlists) {
    machine.on_read = [](u32 offset) -> std::optional<u32> {
        const bool row =
            (offset >= NV_PTOP_DEVICE_INFO(0) && offset <= NV_PTOP_DEVICE_INFO(63)) ||
            (offset >= NV_PTOP_DEVICE_INFO2(0) && offset < NV_PTOP_DEVICE_INFO2(1024)) ||
            (offset >= NV_PTOP_DEVICE_INFO2_DIE1(0) && offset < NV_PTOP_DEVICE_INFO2_DIE1(1024));
        return row ? std::optional(0U) : std::nullopt;
    };
    EXPECT_EQ(probe(), 0);
    EXPECT_EQ(info("feature device_info"), std::vector<std::string>{"no (device table empty)"});
    EXPECT_EQ(info("feature runlist"), std::vector<std::string>{"no (device table empty)"});
    for (const char *const feature : {"runlist_control", "engines", "contexts", "context_state"})
        EXPECT_EQ(info(std::string("feature ") + feature),
                  std::vector<std::string>{"no (device table empty)"})
            << feature;
    expect_runlists("-");
    EXPECT_EQ(open("device_info").error, -ENOENT);
    EXPECT_GE(gpu()->gaps, 0x10000U); // more gaps than there can be registers
    ASSERT_EQ(machine.warnings.size(), 1U);
    EXPECT_EQ(machine.warnings[0], "no device_info or runlists: device table empty\n");
}

/// Each row of a table announces another row. No row is read twice.
TEST_P(AnyProbe, EndlessDeviceTableIsReadOnce) {
    std::map<u32, int> rows;
    machine.on_read = [&](u32 offset) -> std::optional<u32> {
        const bool row =
            (offset >= NV_PTOP_DEVICE_INFO(0) && offset <= NV_PTOP_DEVICE_INFO(63)) ||
            (offset >= NV_PTOP_DEVICE_INFO2(0) && offset < NV_PTOP_DEVICE_INFO2(1024)) ||
            (offset >= NV_PTOP_DEVICE_INFO2_DIE1(0) && offset < NV_PTOP_DEVICE_INFO2_DIE1(1024));
        if (!row)
            return std::nullopt;
        rows[offset]++;
        return machine.peek(offset) | 0x80000000;
    };
    EXPECT_EQ(probe(), 0);
    EXPECT_EQ(info("feature device_info"), std::vector<std::string>{"no (device table empty)"});
    EXPECT_EQ(info("feature runlist"), std::vector<std::string>{"no (device table empty)"});
    EXPECT_FALSE(rows.empty());
    for (const auto &[offset, count] : rows)
        EXPECT_EQ(count, 1) << hex(offset);
    for (const File &file : files(machine))
        EXPECT_FALSE(file.name.starts_with("runlist") || file.name == "device_info") << file.name;
}

/// The table is longer than its room, or has an unknown version, or cannot be read.
TEST_P(AnyProbe, ImpossibleDeviceTableIsRefused) {
    for (const auto &[value, why] : {std::pair(0xfff00002U, "device table makes no sense"),
                                     std::pair(0x0000000fU, "device table of an unknown version"),
                                     std::pair(error_word, "device table unreadable")}) {
        lie({{NV_PTOP_DEVICE_INFO_CFG, value}, {NV_PTOP_DEVICE_INFO_CFG_DIE1, value}});
        EXPECT_EQ(probe(), 0);
        if (gpu()->chip->runlist->block) {
            EXPECT_EQ(info("feature device_info"),
                      std::vector<std::string>{"no (" + std::string(why) + ")"});
            EXPECT_EQ(info("feature runlist"),
                      std::vector<std::string>{"no (" + std::string(why) + ")"});
            EXPECT_EQ(info("feature context_state"),
                      std::vector<std::string>{"no (" + std::string(why) + ")"});
        } else {
            EXPECT_EQ(info("feature device_info"), std::vector<std::string>{"yes"});
        }
    }
}

TEST_P(AnyProbe, UnreadableDeviceTableLeavesNoRunlists) {
    for (const u32 row : {NV_PTOP_DEVICE_INFO(1), NV_PTOP_DEVICE_INFO2(1)}) {
        lie({{row, error_word}});
        EXPECT_EQ(probe(), 0);
        if ((row == NV_PTOP_DEVICE_INFO(1)) == (gpu()->chip->runlist->block == nullptr)) {
            EXPECT_EQ(info("feature device_info"),
                      std::vector<std::string>{"no (device table unreadable)"});
            EXPECT_EQ(machine.warnings.at(0),
                      "no device_info or runlists: device table unreadable\n");
            expect_runlists("-");
        } else {
            EXPECT_EQ(info("feature device_info"), std::vector<std::string>{"yes"});
        }
    }
}

/// If a part of the table cannot be read, no engine is shown at all.
TEST_P(AnyProbe, HalfADeviceTableShowsNoEngines) {
    if (!gpu_has_two_dies())
        return;
    lie({{NV_PTOP_DEVICE_INFO2_DIE1(1), error_word}});
    EXPECT_EQ(probe(), 0);
    EXPECT_EQ(info("feature device_info"),
              std::vector<std::string>{"no (device table unreadable)"});
    EXPECT_EQ(open("copy_topology").text, "# engine runlist pces shares\n");
}

INSTANTIATE_TEST_SUITE_P(All, AnyProbe, testing::ValuesIn(all_boards()), name_of_board);

/// Runlists may have different numbers of channels. A runlist that has not answered yet has none.
TEST_P(AnyProbe, ChannelCountIsUnknownIfRunlistsDiffer) {
    ASSERT_EQ(probe(), 0);
    const std::vector<std::string> usual = info("channels");
    EXPECT_NE(usual, std::vector<std::string>{"-"});
    if (gpu()->topology.runlists < 2)
        return;
    gpu()->topology.runlist[1].channels = 0;
    EXPECT_EQ(info("channels"), usual);
    gpu()->topology.runlist[1].channels = 7;
    EXPECT_EQ(info("channels"), std::vector<std::string>{"-"});
}

// --- the number of channels from Volta to Turing ---

class ChannelCount : public Probe {};

/// A number of channels that is impossible is not accepted.
TEST_P(ChannelCount, IsTheChipsIfTheRegisterIsUnusable) {
    for (const auto &[value, channels] : {std::pair(4096U, "4096"), std::pair(512U, "512")}) {
        lie({{NV_PFIFO_CFG1, value}});
        ASSERT_EQ(probe(), 0);
        EXPECT_EQ(info("channels"), std::vector<std::string>{channels});
        EXPECT_EQ(gpu()->gaps, 0U) << value;
    }
    for (const u32 value : {0U, 4097U, error_word}) {
        lie({{NV_PFIFO_CFG1, value}});
        ASSERT_EQ(probe(), 0);
        EXPECT_EQ(info("channels"), std::vector<std::string>{"4096"}) << value;
        EXPECT_EQ(gpu()->gaps, 1U) << value;
    }
}

INSTANTIATE_TEST_SUITE_P(Boards, ChannelCount, testing::Values("titan-v", "rtx2080ti"),
                         name_of_board);

// --- PBDMAs up to Turing ---

class PbdmaMap : public Probe {
  protected:
    [[nodiscard]] std::vector<std::vector<u32>> pbdmas() {
        std::vector<std::vector<u32>> all;
        for (u32 i = 0; i < gpu()->topology.runlists; i++) {
            const nvdebug_runlist &list = gpu()->topology.runlist[i];
            all.emplace_back();
            for (u32 p = 0; p < list.pbdmas; p++)
                all.back().push_back(list.pbdma[p].number);
        }
        return all;
    }
};

TEST_P(PbdmaMap, UnreadablePbdmaIsLeftOut) {
    ASSERT_EQ(probe(), 0);
    std::vector<std::vector<u32>> wanted = pbdmas();
    ASSERT_FALSE(wanted.at(0).empty());
    const u32 first = wanted[0][0];
    for (std::vector<u32> &list : wanted)
        std::erase(list, first);
    lie({{NV_PFIFO_PBDMA_MAP(first), error_word}});
    ASSERT_EQ(probe(), 0);
    EXPECT_EQ(pbdmas(), wanted);
    EXPECT_TRUE(machine.warnings.empty());
}

INSTANTIATE_TEST_SUITE_P(Boards, PbdmaMap, testing::Values("quadro-k5000", "gtx980", "rtx2080ti"),
                         name_of_board);

// --- The blocks of BAR1 and BAR2, for access/ ---

class Bars : public Probe {
  protected:
    Bars() { EXPECT_EQ(machine.probe(), 0); }

    /// Returns the block of a BAR, and checks the error.
    nvdebug_bar_block block(int bar, int error = 0) {
        nvdebug_bar_block found{};
        EXPECT_EQ(machine.locked([&] { return gpu()->chip->bars->block(gpu(), bar, &found); }),
                  error)
            << bar;
        return found;
    }
    void expect(int bar, u64 inst, u8 aperture, bool is_virtual, bool busy, bool halved) {
        const nvdebug_bar_block got = block(bar);
        EXPECT_EQ(got.inst, inst) << bar;
        EXPECT_EQ(got.aperture, aperture) << bar;
        EXPECT_EQ(got.is_virtual, is_virtual) << bar;
        EXPECT_EQ(got.busy, busy) << bar;
        EXPECT_EQ(got.halved, halved) << bar;
    }
};

class OldBars : public Bars {};

TEST_P(OldBars, EachHasItsRegisters) {
    const bool turing = GetParam() != "gtx980";
    const u32 bar1 = turing ? NV_VF_BAR1_BLOCK : NV_PBUS_BAR1_BLOCK;
    const u32 bar2 = turing ? NV_VF_BAR2_BLOCK : NV_PBUS_BAR2_BLOCK;
    const u32 bind = turing ? NV_VF_BIND_STATUS : NV_PBUS_BIND_STATUS;
    lie({{bar1, 0x80012345}, {bar2, 0xe0054321}, {bind, 0x4}});
    expect(1, 0x12345000, 0, true, false, false);
    expect(2, 0x54321000, 2, true, true, true);
    lie({{bar1, 0x40012345}, {bar2, 0x00054321}, {bind, 0x1}});
    expect(1, 0x12345000, 0, false, true, false);
    expect(2, 0x54321000, 0, false, false, false);
}

TEST_P(OldBars, UnreadableRegisterIsAnError) {
    for (const u32 reg : {NV_PBUS_BAR1_BLOCK, NV_PBUS_BIND_STATUS}) {
        lie({{NV_VF_BAR1_BLOCK, error_word}, {reg, error_word}});
        block(1, -EIO);
    }
    // From Turing on PBUS has the block, too, but it need not be up to date.
    if (GetParam() == "gtx980")
        return;
    for (const u32 reg : {NV_VF_BAR1_BLOCK, NV_VF_BIND_STATUS}) {
        lie({{reg, error_word}, {NV_PBUS_BAR1_BLOCK, 0x80012345}, {NV_PBUS_BIND_STATUS, 0}});
        expect(1, 0x12345000, 0, true, false, false);
        lie({{reg, error_word}, {NV_PBUS_BAR1_BLOCK, 0x00012345}, {NV_PBUS_BIND_STATUS, 0}});
        block(1, -EIO);
    }
    machine.on_read = [](u32) { return std::optional(~0U); };
    block(1, -ENODEV);
}

INSTANTIATE_TEST_SUITE_P(Boards, OldBars, testing::Values("gtx980", "rtx2080ti", "a100"),
                         name_of_board);

class NewBars : public Bars {};

TEST_P(NewBars, EachHasItsRegisters) {
    lie({{NV_VF_FUNC_BAR1_BLOCK_LOW, 0x12345201},
         {NV_VF_FUNC_BAR1_BLOCK_HIGH, 0x1},
         {NV_VF_FUNC_BAR2_BLOCK_LOW, 0x54321800},
         {NV_VF_FUNC_BAR2_BLOCK_HIGH, 0x2}});
    expect(1, 0x112345000, 0, true, true, false);
    expect(2, 0x254321000, 2, false, false, false);
}

TEST_P(NewBars, UnreadableRegisterIsAnError) {
    lie({{NV_VF_FUNC_BAR1_BLOCK_HIGH, error_word}});
    block(1, -EIO);
    // The low register may look like an error word, because it is a part of an address.
    lie({{NV_VF_FUNC_BAR1_BLOCK_LOW, 0xbadf1200}, {NV_VF_FUNC_BAR1_BLOCK_HIGH, 0}});
    expect(1, 0xbadf1000, 0, true, false, false);
    lie({{NV_VF_FUNC_BAR1_BLOCK_LOW, ~0U}, {NV_VF_FUNC_BAR1_BLOCK_HIGH, 0}});
    block(1, -EIO);
}

INSTANTIATE_TEST_SUITE_P(Boards, NewBars, testing::Values("h200", "rtx5090"), name_of_board);

// --- Places of memory ---

TEST_P(AnyProbe, ApertureIsOneOfFour) {
    ASSERT_EQ(probe(), 0);
    EXPECT_NE(nvdebug_mem_place(gpu(), 2), NVDEBUG_PLACE_NONE);
    EXPECT_NE(nvdebug_mem_place(gpu(), 3), NVDEBUG_PLACE_NONE);
    for (const u8 aperture : {1, 4, 5, 255})
        EXPECT_EQ(nvdebug_mem_place(gpu(), aperture), NVDEBUG_PLACE_NONE) << unsigned{aperture};
}

} // namespace
} // namespace core
