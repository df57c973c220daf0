// SPDX-License-Identifier: MIT OR GPL-2.0
// switch_to_tsg: which entries it takes, which tasks it waits for, and which list is current
// afterwards.
#include "bench.hpp"
#include "text.hpp"
#include "three_tasks.hpp"

extern "C" {
#include "chips/chips.h"
#include "hw/pfifo.h"
}

#include <map>
#include <vector>

namespace core {
namespace {

class Switch : public testing::TestWithParam<std::string>, protected ThreeTasks {
  protected:
    Switch() : ThreeTasks(GetParam()), all(files(machine)), drivers(where()), in_use(shim.in_use) {
        entry_bytes = 4 * gpu()->chip->runlist->entry_words;
        wide = entry_bytes == 16;
        ampere = gpu()->chip->channel->per_runlist;
        machine.written.clear();
    }
    ~Switch() override {
        machine.on_read = nullptr;
        machine.retire();
        EXPECT_EQ(shim.in_use, in_use);
    }
    [[nodiscard]] const File &file(const std::string &name) {
        return *std::ranges::find(all, name, &File::name);
    }
    int switch_to(const std::string &text) {
        return Open(machine, file("switch_to_tsg")).write(text).error;
    }
    int resubmit() { return Open(machine, file("resubmit_runlist")).write("0").error; }
    /// Returns the current list as "TSG 1: 2 3".
    std::vector<std::string> shown() {
        std::vector<std::string> found;
        for (const Box &box : entries(read(machine, file("runlist0_brief")).text)) {
            if (box.kind == "TSG Entry")
                found.push_back("TSG " + std::to_string(*box.number) + ":");
            else if (box.kind == "Channel Info" && !found.empty())
                found.back() += " " + std::to_string(*box.number);
        }
        return found;
    }
    /// Returns, by TSG, its entries of a list: kinds, numbers and the fields that only a driver or
    /// a request changes.
    std::map<std::string, std::vector<std::string>> groups(u32 list) {
        std::map<std::string, std::vector<std::string>> found;
        std::vector<std::string> *group = nullptr;
        const std::string name = "runlist" + std::to_string(list) + "_brief";
        for (Box &box : entries(read(machine, file(name)).text)) {
            if (box.kind == "TSG Entry")
                group = &found[std::to_string(*box.number)];
            else if (group == nullptr || box.indent == 0)
                continue;
            std::string text = box.kind + " " + std::to_string(*box.number);
            for (const char *const key : {"Scale", "Timeout", "Length", "Truncated", "Enabled",
                                          "Runqueue", "Instance Block"})
                text += " " + box.fields[key];
            group->push_back(text);
        }
        return found;
    }
    [[nodiscard]] u64 at(u32 entry) const { return drivers.addr + entry * entry_bytes; }
    [[nodiscard]] u32 word(u64 address) {
        return *machine.Model::memory_read(drivers.aperture, address);
    }
    void set_word(u64 address, u32 value) {
        machine.Model::memory_write(drivers.aperture, address, value);
    }
    /// Sets the length in the TSG header that is entry number `entry`.
    void set_length(u32 entry, u32 length) {
        if (wide)
            set_word(at(entry) + 4, length);
        else
            set_word(at(entry), (word(at(entry)) & 0x03ffffff) | length << 26);
    }
    /// Sets the value of a status register, whatever is on the hardware.
    void shows(u32 reg, u32 value) {
        machine.on_read = [reg, value](u32 offset) {
            return offset == reg ? std::optional(value) : std::nullopt;
        };
    }
    [[nodiscard]] u32 valid(u32 id, bool tsg = true) const {
        return id | (tsg && !ampere ? NV_PFIFO_STATUS_ID_TYPE_TSG : 0) | 1U << 13;
    }
    [[nodiscard]] u32 pbdma() { return gpu()->chip->status->pbdma_reg(&runlist()->pbdma[0]); }
    /// Returns the status register of an engine that is, or is not, on the runlist; 0 if there is
    /// none.
    [[nodiscard]] u32 engine(bool on_it) {
        for (u32 i = 0; i < gpu()->topology.engines; i++) {
            const nvdebug_engine *const one = &gpu()->topology.engine[i];
            const u32 reg = gpu()->chip->status->engine_reg(gpu(), one);
            if (reg && (one->runlist == runlist()->id) == on_it)
                return reg;
        }
        return 0;
    }

    std::vector<File> all;
    nvdebug_runlist_location drivers{};
    u64 in_use = 0;
    u64 entry_bytes = 0;
    bool wide = false;
    bool ampere = false; // or newer: no channels outside of TSGs
};

const std::vector<std::string> three{"TSG 0: 0 1", "TSG 1: 2 3", "TSG 2: 4 5"};

TEST_P(Switch, LastsUntilTheListComesBack) {
    ASSERT_EQ(shown(), three);
    ASSERT_EQ(switch_to("0:1"), 0);
    EXPECT_EQ(shown(), std::vector<std::string>{"TSG 1: 2 3"});
    // Only the driver's list has this TSG.
    ASSERT_EQ(switch_to("2"), 0);
    EXPECT_EQ(shown(), std::vector<std::string>{"TSG 2: 4 5"});
    EXPECT_EQ(switch_to("0:3"), -EINVAL);
    EXPECT_EQ(shown(), std::vector<std::string>{"TSG 2: 4 5"});
    ASSERT_EQ(resubmit(), 0);
    EXPECT_EQ(shown(), three);
    const nvdebug_runlist_location now = where();
    EXPECT_TRUE(nvdebug_runlist_location_same(&now, &drivers));
    EXPECT_EQ(shim.in_use, in_use);
    EXPECT_EQ(machine.done, (std::vector<std::string>{"switched to 1 TSG: 0:1 (by uid 0)\n",
                                                      "switched to 1 TSG: 0:2 (by uid 0)\n",
                                                      "resubmitted 1 runlist: 0 (by uid 0)\n"}));
}

TEST_P(Switch, IsUndoneWithItsLease) {
    for (int i = 0; i < 2; i++) {
        Open open(machine, file("switch_to_tsg"));
        ASSERT_EQ(open.write("lease 0:1").error, 0);
        EXPECT_EQ(shown(), std::vector<std::string>{"TSG 1: 2 3"});
        machine.done.clear();
    }
    EXPECT_EQ(shown(), three);
    EXPECT_EQ(machine.done,
              std::vector<std::string>{"lease over: resubmitted 1 runlist: 0 (by uid 0)\n"});
    EXPECT_EQ(shim.in_use, in_use);
    EXPECT_EQ(Open(machine, file("switch_to_tsg")).write("lease 0:7").error, -EINVAL);
    EXPECT_EQ(shim.in_use, in_use);
}

/// The lists of other runlists stay.
TEST_P(Switch, KeepsTheEntriesOfEachTsg) {
    machine.restart("fig6");
    machine.model().advance(5000 * nvmodel::ns_per_us);
    std::vector<u32> lists;
    for (u32 i = 0; i < gpu()->topology.runlists; i++)
        lists.push_back(gpu()->topology.runlist[i].id);
    std::map<u32, std::map<std::string, std::vector<std::string>>> before;
    for (const u32 list : lists)
        before[list] = groups(list);
    unsigned switched = 0;
    for (const u32 list : lists)
        for (const auto &[tsg, group] : before[list]) {
            ASSERT_EQ(switch_to(std::to_string(list) + ":" + tsg), 0) << list << ":" << tsg;
            auto expected = before;
            expected[list] = {{tsg, group}};
            for (const u32 one : lists)
                EXPECT_EQ(groups(one), expected[one]) << list << ":" << tsg;
            ASSERT_EQ(Open(machine, file("resubmit_runlist")).write(std::to_string(list)).error, 0);
            for (const u32 one : lists)
                EXPECT_EQ(groups(one), before[one]) << list << ":" << tsg;
            switched++;
        }
    EXPECT_GT(switched, 1U);
}

/// Requests look at the current list.
TEST_P(Switch, LeavesTheOthersUnlisted) {
    ASSERT_EQ(switch_to("0:1"), 0);
    EXPECT_EQ(Open(machine, file("preempt_tsg")).write("0:2").error, -EINVAL);
    EXPECT_EQ(Open(machine, file("preempt_tsg")).write("0:1").error, 0);
}

/// If there are fewer channels than the header announces, it is unknown which ones are missing.
TEST_P(Switch, TakesACompleteTsg) {
    set_length(3, 3);
    EXPECT_EQ(switch_to("0:1"), -EINVAL);
    set_length(3, 0);
    EXPECT_EQ(switch_to("0:1"), -EINVAL);
    set_length(6, 3); // the last TSG, which the list ends
    EXPECT_EQ(switch_to("0:2"), -EINVAL);
    EXPECT_TRUE(machine.written.empty());
    set_length(6, 2);
    EXPECT_EQ(switch_to("0:2"), 0);
    EXPECT_EQ(shown(), std::vector<std::string>{"TSG 2: 4 5"});
    ASSERT_EQ(resubmit(), 0);
    set_length(3, 1); // the second channel is then in no TSG
    EXPECT_EQ(switch_to("0:1"), 0);
    EXPECT_EQ(shown(), std::vector<std::string>{"TSG 1: 2"});
}

TEST_P(Switch, TakesTheFirstHeaderOfATsg) {
    for (u64 i = 0; i < entry_bytes; i += 4)
        set_word(at(6) + i, word(at(3) + i));
    set_length(6, 1);
    EXPECT_EQ(switch_to("0:1"), 0);
    EXPECT_EQ(shown(), std::vector<std::string>{"TSG 1: 2 3"});
}

// --- Tasks for which it waits ---

TEST_P(Switch, WaitsForTheOthersToLeaveAPbdma) {
    for (const u32 other : {0U, 2U}) {
        shows(pbdma(), valid(other));
        EXPECT_EQ(switch_to("0:1"), -ETIMEDOUT) << other;
        machine.on_read = nullptr;
        EXPECT_EQ(shown(), three) << other;
    }
    for (const u32 other : {1U, 77U, 4095U}) {
        shows(pbdma(), valid(other));
        EXPECT_EQ(switch_to("0:1"), 0) << other;
        machine.on_read = nullptr;
        ASSERT_EQ(resubmit(), 0);
    }
}

TEST_P(Switch, WaitsForTheOthersToLeaveAnEngineOfTheRunlist) {
    ASSERT_NE(engine(true), 0U);
    shows(engine(true), valid(2));
    EXPECT_EQ(switch_to("0:1"), -ETIMEDOUT);
    machine.on_read = nullptr;
    EXPECT_EQ(shown(), three);
    shows(engine(true), valid(1));
    EXPECT_EQ(switch_to("0:1"), 0);
    machine.on_read = nullptr;
    ASSERT_EQ(resubmit(), 0);
    // On another runlist's engine there are ids of that runlist.
    ASSERT_NE(engine(false), 0U);
    shows(engine(false), valid(2));
    EXPECT_EQ(switch_to("0:1"), 0);
}

/// No public register shows the tasks on some engines, so PBDMAs must suffice.
TEST_P(Switch, WaitsForNoEngineWithoutAStatus) {
    for (u32 i = 0; i < gpu()->topology.engines; i++) {
        nvdebug_engine &one = gpu()->topology.engine[i];
        one.has &= ~static_cast<u32>(NVDEBUG_ENGINE_HAS_ID);
        one.rleng = 9;
    }
    ASSERT_EQ(engine(true), 0U);
    shows(0, valid(2)); // no other register is read instead
    EXPECT_EQ(switch_to("0:1"), 0);
    machine.on_read = nullptr;
    ASSERT_EQ(resubmit(), 0);
    shows(pbdma(), valid(2));
    EXPECT_EQ(switch_to("0:1"), -ETIMEDOUT);
}

/// Up to Turing a list may have channels outside of TSGs.
TEST_P(Switch, WaitsForChannelsOutsideOfTsgs) {
    if (ampere)
        return;
    set_length(6, 1); // so that channel 5 is in no TSG
    shows(pbdma(), valid(5, false));
    EXPECT_EQ(switch_to("0:1"), -ETIMEDOUT);
    // Channels of TSGs do not count, nor does a TSG with that number.
    for (const u32 word : {valid(2, false), valid(4, false), valid(5)}) {
        shows(pbdma(), word);
        EXPECT_EQ(switch_to("0:1"), 0) << word;
        machine.on_read = nullptr;
        ASSERT_EQ(resubmit(), 0);
    }
}

INSTANTIATE_TEST_SUITE_P(Boards, Switch,
                         testing::Values("gtx1080ti", "titan-v", "rtx2080ti", "a100", "h200"),
                         name_of_board);

} // namespace
} // namespace core
