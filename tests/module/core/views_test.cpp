// SPDX-License-Identifier: MIT OR GPL-2.0
// The files of a GPU with unusual values in its registers, and files without addresses.
// golden_test.cpp has the files with usual values.
#include "views.hpp"

extern "C" {
#include "chips/chips.h"
#include "hw/ce.h"
#include "hw/cwd.h"
#include "hw/pbdma.h"
#include "hw/pfifo.h"
#include "hw/ptimer.h"
#include "hw/ptop.h"
#include "hw/runlist.h"
}

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <utility>
#include <vector>

namespace core {
namespace {

// --- Files without addresses ---

class Hidden : public Views {};

/// A reader without the right to see addresses gets the same text, except for each address.
TEST_P(Hidden, AreTheAddressesAndNothingElse) {
    const std::set<std::string> with_addresses{"runlist", "contexts"};
    for (const std::string workload : {"mixed", "malformed"})
        for (const File &file : files(machine)) {
            if (file.view == nullptr)
                continue;
            restart(workload);
            const Text usual = read(machine, file);
            restart(workload);
            const Text hidden = read(machine, file, true);
            ASSERT_EQ(hidden.error, usual.error) << file.name;
            const auto all = words_of(usual.text), some = words_of(hidden.text);
            ASSERT_EQ(all.size(), some.size()) << file.name;
            for (std::size_t i = 0; i < all.size(); i++) {
                if (some[i] == "hidden") {
                    EXPECT_TRUE(all[i].starts_with("0x")) << file.name << ": " << all[i];
                } else {
                    EXPECT_EQ(some[i], all[i]) << file.name;
                }
            }
            const bool addresses = file.name.starts_with("runlist") || file.name == "contexts";
            EXPECT_EQ(hidden.text != usual.text,
                      addresses && usual.text.find("0x") != std::string::npos)
                << file.name;
            if (addresses) {
                EXPECT_EQ(hidden.text.find("0x"), std::string::npos) << file.name << "\n"
                                                                     << hidden.text;
            }
        }
}

INSTANTIATE_TEST_SUITE_P(All, Hidden, testing::Values("gtx1080ti", "titan-v", "h200"),
                         name_of_board);

// --- Announced registers ---

class Announced : public Views {};

TEST_P(Announced, FilesHaveDifferentNames) {
    std::set<std::string> names;
    for (const File &file : files(machine))
        EXPECT_TRUE(names.insert(file.name).second) << file.name;
}

TEST_P(Announced, RegistersAreRead) {
    for (const File &file : files(machine)) {
        if (file.view == nullptr || !file.view->live)
            continue;
        restart("mixed");
        std::set<u32> unread, known;
        machine.expected.clear();
        machine.on_read = [&](u32 offset) -> std::optional<u32> {
            for (const u32 one : std::exchange(machine.expected, {}))
                unread.insert(one), known.insert(one);
            unread.erase(offset);
            return std::nullopt;
        };
        static_cast<void>(read(machine, file));
        machine.on_read = nullptr;
        for (const u32 one : machine.expected)
            ADD_FAILURE() << file.name << ": " << hex(one) << " is announced and not read";
        for (const u32 one : unread)
            ADD_FAILURE() << file.name << ": " << hex(one) << " is announced and not read";
        // These files read runs of registers, where a call costs more than a register.
        const bool runs = file.name.starts_with("runlist0") || file.name == "sm_map" ||
                          file.name == "work_distributor" || file.name == "engines" ||
                          (file.name == "copy_topology" && gpu()->chip->copy->pce_stride);
        if (runs) {
            EXPECT_GT(known.size(), 2U) << file.name;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, Announced, testing::ValuesIn(cards), name_of_board);

/// The other files were read by the probe, and everybody may read them.
TEST(ViewFiles, LiveFilesAreState) {
    for (const auto &file : std::span(nvdebug_view_files, nvdebug_view_files_count))
        EXPECT_EQ(file.state, file.view->live) << file.name;
}

// --- runlists ---

class Lists : public Views {};

/// The list names more channels than the GPU has. The registers of the missing ones are not read.
TEST_P(Lists, MissingChannelsAreNotRead) {
    nvdebug_runlist *const list = gpu()->topology.runlist;
    const nvdebug_channel_ops *const ops = gpu()->chip->channel;
    std::set<u32> none;
    for (const u32 id : {2U, 3U}) {
        none.insert(ops->reg(list, id));
        if (!ops->per_runlist)
            none.insert(NV_PCCSR_CHANNEL_INST(id));
    }
    list->channels = 2;
    if (!ops->per_runlist)
        gpu()->topology.channels = 2;
    for (const char *const name : {"runlist0", "runlist0_brief", "contexts"}) {
        machine.expected.clear();
        reads.clear();
        lie({});
        const Text got = open(name);
        ASSERT_EQ(got.error, 0) << name;
        for (const u32 reg : none)
            EXPECT_EQ(reads[reg] + std::ranges::count(machine.expected, reg), 0)
                << name << ", " << hex(reg);
        if (std::string(name) == "contexts")
            continue;
        for (const Box &box : entries(got.text))
            if (box.kind == "Channel Info") {
                EXPECT_EQ(box.fields.contains("Error"), *box.number >= 2) << name;
                EXPECT_EQ(box.fields.contains("Status Name"), *box.number < 2) << name;
                EXPECT_TRUE(box.fields.contains("Runqueue")) << name;
            }
    }
}

TEST_P(Lists, UnreadableChannelIsAnError) {
    lie({{gpu()->chip->channel->reg(gpu()->topology.runlist, 1), error_word}});
    EXPECT_EQ(open("runlist0_brief").error, -EIO);
    EXPECT_EQ(open("runlist0").error, -EIO);
}

/// An entry that is neither a TSG nor a channel is shown word by word.
TEST_P(Lists, UnknownEntriesAreShownAsWords) {
    restart("malformed");
    std::size_t unknown = 0;
    for (const Box &box : entries(open("runlist0_brief").text))
        if (box.kind == "Unknown Entry") {
            unknown++;
            EXPECT_EQ(box.fields.size(), gpu()->chip->runlist->entry_words);
            for (const auto &[key, value] : box.fields)
                EXPECT_TRUE(key.starts_with("Word ") && value.starts_with("0x")) << key;
        }
    EXPECT_GT(unknown, 0U);
}

/// The list is first where no memory may be, and then has no entries.
TEST_P(Lists, UnreadableAndEmptyListsAreShown) {
    const nvdebug_runlist *const list = gpu()->topology.runlist;
    const nvdebug_runlist_ops *const ops = gpu()->chip->runlist;
    const u32 place = ops->registers(list), length = place + ops->length_offset;
    const bool in_pages = GetParam() == "gtx1080ti" || GetParam() == "titan-v";
    const u32 target = in_pages ? 3U << 28 : 3U, nowhere = in_pages ? 1U << 28 : 1U;
    const u32 was = machine.peek(place);
    const auto head = [&] { return entries(open("runlist0_brief").text).at(0).fields; };
    const Fields usual = head();
    EXPECT_NE(usual.at("Entries"), "0");

    lie({{place, (was & ~target) | nowhere}});
    Fields shown = head();
    EXPECT_EQ(shown.at("Entries"), usual.at("Entries"));
    EXPECT_EQ(shown.at("TSGs"), "-");
    EXPECT_EQ(shown.at("Channels"), "-");
    EXPECT_EQ(shown.at("Address"), usual.at("Address"));

    lie({{length, machine.peek(length) & ~0xffffU}});
    shown = head();
    for (const char *const key : {"Entries", "TSGs", "Channels"})
        EXPECT_EQ(shown.at(key), "0") << key;
    EXPECT_EQ(shown.at("Address"), usual.at("Address"));
    // `contexts` reads only the length of an empty list.
    reads.clear();
    EXPECT_EQ(open("contexts").error, 0);
    EXPECT_EQ(reads[length], 1);
    EXPECT_EQ(reads[place], 0);
}

/// The registers that locate the list, from Turing on, and the state of its channels are announced
/// before they are read.
TEST_P(Lists, AreAnnounced) {
    const nvdebug_runlist *const list = gpu()->topology.runlist;
    const nvdebug_runlist_ops *const ops = gpu()->chip->runlist;
    std::set<u32> wanted, known;
    for (u32 id = 0; id < 16; id++)
        wanted.insert(gpu()->chip->channel->reg(list, id));
    for (u32 n = 0; n < 4 && ops->ptr_lo != 0; n++)
        wanted.insert(ops->registers(list) + 4 * n);
    std::size_t seen = 0;
    machine.expected.clear();
    machine.on_read = [&](u32 offset) -> std::optional<u32> {
        for (const u32 one : std::exchange(machine.expected, {}))
            known.insert(one);
        if (wanted.contains(offset)) {
            EXPECT_TRUE(known.contains(offset)) << hex(offset);
            seen++;
        }
        return std::nullopt;
    };
    EXPECT_EQ(open("runlist0_brief").error, 0);
    EXPECT_GT(seen, ops->ptr_lo != 0 ? 5U : 1U);
}

INSTANTIATE_TEST_SUITE_P(Boards, Lists,
                         testing::Values("gtx1080ti", "titan-v", "rtx2080ti", "a100", "h200"),
                         name_of_board);

// --- the clock ---

class Clock : public Views {
  protected:
    /// Opens the file while the upper half of the time has these values, one at each look.
    Text at(const std::vector<u32> &upper, u32 lower) {
        std::size_t looks = 0;
        machine.on_read = [&, lower](u32 offset) -> std::optional<u32> {
            if (offset == NV_PTIMER_TIME_1)
                return upper.at(looks++);
            return offset == NV_PTIMER_TIME_0 ? std::optional(lower) : std::nullopt;
        };
        const Text got = open("ptimer");
        machine.on_read = nullptr;
        EXPECT_EQ(looks, upper.size());
        return got;
    }
};

TEST_P(Clock, HasTwoHalvesOfOneTime) {
    EXPECT_EQ(at({5, 5}, 0x20).text, "21474836512\n");
    EXPECT_EQ(at({5, 6, 6}, 0x20).text, "25769803808\n");
    EXPECT_EQ(at({5, 6, 7, 7}, 0x20).text, "30064771104\n");
    EXPECT_EQ(at({5, 6, 7, 8}, 0x20).error, -EIO);
    // The lower half may look like an error word. The upper half may not.
    EXPECT_EQ(at({5, 5}, 0xbadf1100).text, "24610017536\n");
    EXPECT_EQ(at({error_word}, 0x20).error, -EIO);
    EXPECT_EQ(at({5, error_word}, 0x20).error, -EIO);
}

INSTANTIATE_TEST_SUITE_P(Boards, Clock, testing::Values("gtx980", "h200"), name_of_board);

// --- copy engines ---

class Copies : public Views {};

TEST_P(Copies, UnreadableMapIsAGap) {
    EXPECT_EQ(gpu()->gaps, 0U);
    ASSERT_TRUE(has("lce_for_pce0"));
    lie({{NV_CE_PCE_MAP, error_word}});
    EXPECT_EQ(open("pce_map").error, -EIO);
    EXPECT_EQ(open("copy_topology").error, -EIO);
    ASSERT_EQ(probe(), 0);
    EXPECT_EQ(gpu()->gaps, 1U);
    EXPECT_FALSE(has("lce_for_pce0"));
    EXPECT_TRUE(has("copy_topology"));
    machine.on_read = nullptr;
    ASSERT_EQ(probe(), 0);
    EXPECT_TRUE(has("lce_for_pce0"));
    EXPECT_EQ(gpu()->gaps, 0U);
}

/// Each register is read once, though it may have the map of several engines. Each read in turn
/// fails.
TEST_P(Copies, AreReadOnce) {
    const nvdebug_copy_ops *const ops = gpu()->chip->copy;
    for (const std::string name : {"pce_map", "lce_for_pce0", "copy_topology"}) {
        reads.clear();
        lie({});
        const int usual = open(name).error;
        EXPECT_TRUE(!usual || (usual == -ENODEV && name == "lce_for_pce0"));
        for (const auto &[offset, count] : reads)
            EXPECT_EQ(count, 1) << name << ", " << hex(offset);
        if (name != "copy_topology") {
            EXPECT_EQ(reads.size(), 1U) << name;
        } else if (!ops->pce_stride) {
            EXPECT_EQ(reads.size(), 3U);
        }
        for (u64 n = 0, seen = n + 1; seen > n; n++) {
            seen = 0;
            machine.on_read = [&](u32) {
                return seen++ == n ? std::optional(error_word) : std::nullopt;
            };
            const int error = open(name).error;
            EXPECT_EQ(error, seen > n ? -EIO : usual) << name << ", " << n;
        }
    }
}

/// A copy engine is no GRCE if it has no GRCE's number or no runlist. The row of GR0 may stand
/// anywhere in the table.
TEST_P(Copies, GrcesAreOnTheGraphicsRunlist) {
    const nvdebug_copy_ops *const ops = gpu()->chip->copy;
    const auto all = std::span(gpu()->topology.engine, gpu()->topology.engines);
    const std::vector<nvdebug_engine> was(all.begin(), all.end());
    const auto rows = [&] {
        std::vector<std::string> sorted;
        std::istringstream lines(open("copy_topology").text);
        for (std::string one; std::getline(lines, one);)
            sorted.push_back(one);
        std::ranges::sort(sorted);
        return sorted;
    };
    const std::vector<std::string> usual = rows();
    std::ranges::stable_partition(
        all, [](const nvdebug_engine &one) { return one.type == NV_PTOP_TYPE_LCE; });
    EXPECT_EQ(rows(), usual);
    std::ranges::copy(was, all.begin());

    const auto shared = [&](u32 inst) {
        for (const std::string &row : rows())
            if (row.starts_with("LCE" + std::to_string(inst) + " "))
                return row.substr(row.rfind(' ') + 1);
        return std::string();
    };
    const u32 graphics =
        std::ranges::find(all, u32{NV_PTOP_TYPE_GRAPHICS}, &nvdebug_engine::type)->runlist;
    const auto lce = std::ranges::find_if(all, [](const nvdebug_engine &one) {
        return one.type == NV_PTOP_TYPE_LCE && one.inst == 0;
    });
    ASSERT_NE(lce, all.end());
    // All GRCEs share their copy engines.
    machine.on_read = [&](u32 offset) -> std::optional<u32> {
        reads[offset]++;
        const u32 stride = ops->grce_stride ? ops->grce_stride : 4;
        return offset - ops->grce_reg < 4 * stride ? std::optional(0x49090909U) : std::nullopt;
    };
    lce->runlist = graphics;
    lce->has |= NVDEBUG_ENGINE_HAS_RUNLIST;
    EXPECT_TRUE(shared(0).starts_with("LCE")) << shared(0);
    lce->has &= ~static_cast<u32>(NVDEBUG_ENGINE_HAS_RUNLIST);
    EXPECT_EQ(shared(0), "-");
    for (const std::string &row : rows())
        if (row.starts_with("LCE0 ")) {
            EXPECT_TRUE(row.starts_with("LCE0 - ")) << row;
        }
    lce->has |= NVDEBUG_ENGINE_HAS_RUNLIST;
    lce->inst = ops->grces;
    reads.clear();
    EXPECT_EQ(open("copy_topology").error, 0);
    if (ops->grce_stride) {
        EXPECT_EQ(reads[ops->grce_reg + ops->grce_stride * ops->grces], 0);
    }
    EXPECT_EQ(shared(ops->grces), "-");
    for (nvdebug_engine &one : all)
        one.type += one.type == NV_PTOP_TYPE_GRAPHICS;
    lce->inst = 0;
    EXPECT_EQ(shared(0), "-");
    std::ranges::copy(was, all.begin());
}

INSTANTIATE_TEST_SUITE_P(Boards, Copies,
                         testing::Values("gtx1080ti", "titan-v", "rtx2080ti", "a100", "rtx6000-ada",
                                         "h200", "rtx5090"),
                         name_of_board);

// --- GPCs, TPCs, SMs ---

class Geometry : public Views {};

TEST_P(Geometry, UnreadableCountsAreGaps) {
    const std::map<u32, std::string> counts{{NV_PTOP_SCAL_NUM_GPCS, "num_gpcs"},
                                            {NV_PTOP_SCAL_NUM_TPC_PER_GPC, "num_tpc_per_gpc"},
                                            {NV_PTOP_SCAL_NUM_CES, "num_ces"},
                                            {NV_PTOP_SCAL_NUM_FBPS, "num_fbps"},
                                            {NV_PTOP_SCAL_NUM_LTCS, "num_ltcs"}};
    for (const auto &[reg, name] : counts) {
        if (!has(name))
            continue;
        for (const u32 value : {error_word, 0U}) {
            lie({{reg, value}});
            ASSERT_EQ(probe(), 0);
            const bool needed = reg == NV_PTOP_SCAL_NUM_GPCS || reg == NV_PTOP_SCAL_NUM_TPC_PER_GPC;
            EXPECT_EQ(has("gpc_mask"), !needed) << name;
            EXPECT_EQ(gpu()->missing[NVDEBUG_FEATURE_GPC_TOPOLOGY] != nullptr, needed) << name;
            EXPECT_EQ(gpu()->gaps, needed ? 33U : 1U) << name;
            if (!needed) {
                EXPECT_EQ(open(name).error, value ? -EIO : 0) << name;
            } else {
                EXPECT_STREQ(gpu()->missing[NVDEBUG_FEATURE_GPC_TOPOLOGY],
                             "PTOP does not tell the numbers of GPCs and TPCs");
            }
        }
    }
}

/// The mask of one GPC's TPCs cannot be read, and then the mask of GPCs.
TEST_P(Geometry, UnreadableMaskIsAGap) {
    const nvdebug_geometry_ops *const ops = gpu()->chip->geometry;
    const u32 gpcs = gpu()->geometry.count[NVDEBUG_NUM_GPCS].value;
    u32 gpc = 0;
    while (gpu()->geometry.gpc_mask.value >> gpc & 1)
        gpc++;
    for (int i = 0; i < 2 && ops->tpc_reg[i]; i++) {
        lie({{ops->tpc_reg[i] + 4 * gpc, error_word}});
        ASSERT_EQ(probe(), 0);
        EXPECT_EQ(gpu()->gaps, 1U);
        for (u32 n = 0; n < gpcs; n++)
            EXPECT_EQ(open("gpc" + std::to_string(n) + "_tpc_mask").error, n == gpc ? -EIO : 0)
                << n;
        EXPECT_EQ(reads[ops->tpc_reg[i] + 4 * gpc], 1);
        reads.clear();
        // Then it is unknown which fuses answer, so all of them are read.
        lie({{ops->gpc_reg[i], error_word}});
        ASSERT_EQ(probe(), 0);
        EXPECT_EQ(open("gpc_mask").error, -EIO);
        for (u32 n = 0; n < gpcs; n++)
            EXPECT_EQ(reads[ops->tpc_reg[0] + 4 * n], 1) << n;
        reads.clear();
    }
}

/// All TPCs of a GPC that is off are off, and its fuses are not read.
TEST_P(Geometry, GpcThatIsOffHasNoTpcs) {
    const nvdebug_geometry_ops *const ops = gpu()->chip->geometry;
    const u32 gpcs = gpu()->geometry.count[NVDEBUG_NUM_GPCS].value;
    const u32 tpcs = gpu()->geometry.count[NVDEBUG_NUM_TPC_PER_GPC].value;
    const u32 off = gpcs - 1;
    lie({{ops->gpc_reg[0], 1U << off | 1U << gpcs}, {ops->tpc_reg[0] + 4 * off, 0}});
    machine.expected.clear();
    ASSERT_EQ(probe(), 0);
    EXPECT_EQ(number(open("gpc_mask").text) >> off, 1U);
    EXPECT_EQ(number(open("gpc" + std::to_string(off) + "_tpc_mask").text), (1U << tpcs) - 1);
    EXPECT_EQ(reads[ops->tpc_reg[0] + 4 * off], 0);
    EXPECT_EQ(std::ranges::count(machine.expected, ops->tpc_reg[0] + 4 * off), 0);
    EXPECT_EQ(std::ranges::count(machine.expected, ops->tpc_reg[0]), 1);
    EXPECT_FALSE(has("gpc" + std::to_string(gpcs) + "_tpc_mask"));
    EXPECT_EQ(gpu()->gaps, 0U);
}

TEST_P(Geometry, UnreadableMemorySizeIsAGap) {
    if (!gpu()->chip->video_memory)
        return;
    for (const u32 value : {0U, error_word}) {
        lie({{gpu()->chip->video_memory->reg, value}});
        ASSERT_EQ(probe(), 0);
        EXPECT_EQ(gpu()->gaps, 1U);
        EXPECT_EQ(open("local_memory").error, -EIO);
    }
}

INSTANTIATE_TEST_SUITE_P(All, Geometry, testing::ValuesIn(cards), name_of_board);

class Sms : public Views {
  protected:
    [[nodiscard]] const nvdebug_cwd_ops *ops() { return gpu()->chip->cwd; }
};

TEST_P(Sms, ImpossibleTableIsAnError) {
    const u32 fs = machine.peek(NV_PGRAPH_PRI_CWD_FS);
    const std::string usual = open("sm_map").text;
    // Two TPCs have one place, as they do before a driver has filled in the table.
    lie({{ops()->gpc_tpc_id, 0}});
    EXPECT_EQ(open("sm_map").error, -EIO);
    EXPECT_EQ(open("work_distributor").error, 0);
    for (const u32 reg : {u32{NV_PGRAPH_PRI_CWD_FS}, ops()->gpc_tpc_id}) {
        lie({{reg, error_word}});
        EXPECT_EQ(open("sm_map").error, -EIO) << hex(reg);
        EXPECT_EQ(open("work_distributor").error, -EIO) << hex(reg);
    }
    lie({{ops()->sm_id, error_word}});
    EXPECT_EQ(open("sm_map").text, usual);
    EXPECT_EQ(open("work_distributor").error, -EIO);
    if (ops()->has_partitions) {
        lie({{NV_PGRAPH_PRI_CWD_PARTITION_CTL, error_word}});
        EXPECT_EQ(open("work_distributor").error, -EIO);
    }
    // There are more TPCs than the table has room for.
    const u32 tpcs = NV_PGRAPH_PRI_CWD_FS_NUM_TPCS, most = 4 * ops()->gpc_tpc_words;
    const auto with = [&](u32 count) {
        return (fs & ~tpcs) | (count << __builtin_ctz(tpcs) & tpcs);
    };
    lie({{NV_PGRAPH_PRI_CWD_FS, with(most + 1)}});
    if (with(most + 1) >> __builtin_ctz(tpcs) != 0 && most < tpcs >> __builtin_ctz(tpcs)) {
        reads.clear();
        EXPECT_EQ(open("sm_map").error, -EIO);
        EXPECT_EQ(reads[ops()->gpc_tpc_id + 4 * ops()->gpc_tpc_words], 0);
        EXPECT_EQ(open("work_distributor").error, ops()->fitted ? -EIO : 0);
    }
    lie({{NV_PGRAPH_PRI_CWD_FS, with(0)}});
    EXPECT_EQ(open("sm_map").text, "# sm gpc tpc\n");
    EXPECT_EQ(open("work_distributor").error, 0);
}

/// Only words with a TPC are read for the map.
TEST_P(Sms, TakeAsManyWordsAsThereAreTpcs) {
    const auto rows = static_cast<u32>(std::ranges::count(open("sm_map").text, '\n')) - 1;
    const u32 tpcs = rows / ops()->sms_per_tpc;
    reads.clear();
    lie({});
    EXPECT_EQ(open("sm_map").error, 0);
    EXPECT_EQ(reads.size(), 1 + (tpcs + 3) / 4);
    EXPECT_EQ(reads[ops()->gpc_tpc_id + 4 * ((tpcs + 3) / 4)], 0);
}

INSTANTIATE_TEST_SUITE_P(Boards, Sms,
                         testing::Values("gtx980", "gtx1060-3gb", "titan-v", "a100", "h200",
                                         "b200"),
                         name_of_board);

} // namespace
} // namespace core
