// SPDX-License-Identifier: MIT OR GPL-2.0
// Requests and their leases, on a GPU that others change, too: what is undone, what is left alone
// because others have changed it since, and the lines in the log.
#include "bench.hpp"
#include "meddled.hpp"

extern "C" {
#include "chips/chips.h"
#include "hw/pfifo.h"
#include "hw/runlist.h"
}
#include <linux/seq_buf.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace core {
namespace {

class Leases : public testing::TestWithParam<std::string> {
  protected:
    Leases() : machine(GetParam(), "three-tasks") {
        EXPECT_EQ(machine.probe(), 0);
        machine.model().advance(5000 * nvmodel::ns_per_us);
        all = files(machine);
        in_use = shim.in_use;
    }
    ~Leases() override {
        shim.killed = false;
        machine.on_read = nullptr;
        machine.on_write = nullptr;
    }

    [[nodiscard]] const File &file(const std::string &name) const {
        const auto found = std::ranges::find(all, name, &File::name);
        EXPECT_NE(found, all.end()) << name;
        return *found;
    }
    int write(const std::string &name, const std::string &text) {
        return Open(machine, file(name)).write(text).error;
    }
    [[nodiscard]] const nvdebug_runlist *runlist() { return &machine.gpu()->topology.runlist[0]; }

    // --- channels ---

    [[nodiscard]] const nvdebug_channel_ops *channels() { return machine.gpu()->chip->channel; }
    [[nodiscard]] u32 state(u32 id) { return channels()->reg(runlist(), id); }
    [[nodiscard]] bool is_enabled(u32 id) {
        return channels()->is_enabled(machine.peek(state(id)));
    }
    void set_enabled(u32 id, bool on) {
        machine.poke(state(id), channels()->enable_word(machine.peek(state(id)), on));
        ASSERT_EQ(is_enabled(id), on);
    }
    /// As the module names it.
    [[nodiscard]] std::string name_of(u32 id) {
        return (channels()->per_runlist ? "0:" : "") + std::to_string(id);
    }

    // --- the gate ---

    [[nodiscard]] u32 gate() { return runlist()->base + machine.gpu()->chip->preempt->gate; }

    [[nodiscard]] static bool has(const std::vector<std::string> &lines, const std::string &text) {
        return std::ranges::any_of(
            lines, [&](const std::string &line) { return line.find(text) != std::string::npos; });
    }
    /// All registers are as if the GPU were off the bus.
    void go() {
        machine.on_read = [](u32) { return std::optional(~0U); };
    }
    [[nodiscard]] auto writes(u32 offset) const {
        return std::ranges::count(machine.written, offset, &std::pair<u32, u32>::first);
    }

    Meddled machine;
    std::vector<File> all;
    u64 in_use = 0;
};

// --- leases in general ---

TEST_P(Leases, AreAsManyAsThereMayBe) {
    {
        Open open(machine, file("disable_channel"));
        // those that fail do not count
        for (int i = 0; i < 2 * NVDEBUG_LEASES_MAX; i++)
            EXPECT_EQ(open.write("lease x").error, -EINVAL);
        for (int i = 0; i < NVDEBUG_LEASES_MAX; i++)
            ASSERT_EQ(open.write("lease 0:2").error, 0) << i;
        EXPECT_EQ(open.write("lease 0:3").error, -ENOSPC);
        EXPECT_TRUE(is_enabled(3));
        EXPECT_FALSE(is_enabled(2));
        // what is no lease is not counted
        EXPECT_EQ(open.write("0:4").error, 0);
    }
    EXPECT_TRUE(is_enabled(2));
    EXPECT_FALSE(is_enabled(4));
    EXPECT_EQ(shim.in_use, in_use);
}

TEST_P(Leases, AreUndoneTheLastOneFirst) {
    set_enabled(2, true);
    Open disable(machine, file("disable_channel"));
    {
        Open open(machine, file("scheduling"));
        ASSERT_EQ(open.write("lease 0 off").error, 0);
        ASSERT_EQ(open.write("lease 0 on").error, 0);
        ASSERT_EQ(open.write("lease 0 off").error, 0);
        EXPECT_NE(machine.peek(gate()), 0U);
        machine.done.clear();
    }
    EXPECT_EQ(machine.peek(gate()), 0U);
    ASSERT_EQ(machine.done.size(), 3U);
    EXPECT_NE(machine.done[0].find(": 0 on"), std::string::npos);
    EXPECT_NE(machine.done[1].find(": 0 off"), std::string::npos);
    EXPECT_NE(machine.done[2].find(": 0 on"), std::string::npos);
}

TEST_P(Leases, EndWithAGpuThatHasGone) {
    for (const int leases : {0, 1, 2}) {
        machine.errors.clear();
        {
            Open open(machine, file("disable_channel"));
            for (int i = 0; i < leases; i++)
                ASSERT_EQ(open.write("lease 0:2").error, 0);
            machine.written.clear();
            go();
        }
        machine.on_read = nullptr;
        EXPECT_TRUE(machine.written.empty());
        EXPECT_EQ(shim.in_use, in_use);
        ASSERT_EQ(machine.errors.size(), leases ? 1U : 0U);
        if (leases) {
            EXPECT_TRUE(has(machine.errors, leases == 1 ? "1 lease is over" : "2 leases are over"))
                << machine.errors[0];
        }
        set_enabled(2, true);
    }
    // nor is the GPU left in use
    EXPECT_EQ(write("disable_channel", "0:2"), 0);
}

TEST_P(Leases, EndWithAGpuThatSleeps) {
    {
        Open open(machine, file("disable_channel"));
        ASSERT_EQ(open.write("lease 0:2").error, 0);
        machine.written.clear();
        machine.asleep = true;
    }
    EXPECT_TRUE(machine.written.empty());
    EXPECT_TRUE(has(machine.errors, "1 lease is over"));
    EXPECT_EQ(shim.in_use, in_use);
    for (const auto &[name, text] :
         {std::pair("disable_channel", "0:3"), std::pair("scheduling", "0 off"),
          std::pair("preempt_tsg", "0:1"), std::pair("preempt_runlist", "0"),
          std::pair("switch_to_tsg", "0:1"), std::pair("set_timeslice", "0:1 4000"),
          std::pair("translate", "0:2 0x100000000")})
        EXPECT_EQ(write(name, text), -ENODEV) << name;
    EXPECT_TRUE(machine.written.empty());
}

TEST_P(Leases, AreNotTakenByADyingTask) {
    shim.killed = true;
    EXPECT_EQ(write("disable_channel", "lease 0:2"), -EINTR);
    EXPECT_EQ(write("scheduling", "lease 0 off"), -EINTR);
    shim.killed = false;
    EXPECT_TRUE(is_enabled(2));
    EXPECT_EQ(machine.peek(gate()), 0U);
}

TEST_P(Leases, OfWhatCannotBeUndoneAreRefused) {
    for (const auto &[name, text] :
         {std::pair("preempt_tsg", "lease 0:1"), std::pair("preempt_runlist", "lease 0"),
          std::pair("resubmit_runlist", "lease 0")}) {
        machine.written.clear();
        EXPECT_EQ(write(name, text), -EINVAL) << name;
        EXPECT_TRUE(machine.written.empty()) << name;
    }
}

TEST_P(Leases, TheWordIsAWordOfItsOwn) {
    Open open(machine, file("disable_channel"));
    for (const char *const text :
         {"lease", "lease ", "lease\n", "lease x", "lease 0:2 x", "leases 0:2", "lease lease 0:2",
          "lease0:2", "Lease 0:2", "leas 0:2", "0:2 lease", "lease 99:0 on"})
        EXPECT_EQ(open.write(text).error, -EINVAL) << text;
    EXPECT_TRUE(is_enabled(2));
    EXPECT_EQ(open.write(" \n\tlease\n 0:2").error, 0);
    EXPECT_FALSE(is_enabled(2));
    EXPECT_EQ(write("disable_channel", "  lease\n 0:2"), 0);
}

TEST_P(Leases, AnAnswerThatIsTooLongIsAnError) {
    nvdebug_leases leases{};
    ASSERT_EQ(nvdebug_leases_init(&leases, machine.gpu()), 0);
    const std::string text = "0:1 4000";
    std::array<char, 8> room{};
    seq_buf answer;
    seq_buf_init(&answer, room.data(), room.size());
    EXPECT_EQ(nvdebug_request(machine.gpu(), file("set_timeslice").control, &leases, text.c_str(),
                              text.size(), &answer),
              -EFBIG);
    nvdebug_leases_end(&leases, machine.gpu());
}

// --- channels ---

TEST_P(Leases, OfChannelsSayWhatTheyDo) {
    {
        Open open(machine, file("disable_channel"));
        ASSERT_EQ(open.write("lease 0:2 0:3").error, 0);
        EXPECT_TRUE(
            has(machine.done, "disabled 2 channels: " + name_of(2) + " " + name_of(3) + " ("));
    }
    EXPECT_TRUE(has(machine.done,
                    "lease over: enabled 2 channels: " + name_of(3) + " " + name_of(2) + " ("));
    EXPECT_TRUE(machine.errors.empty());
}

TEST_P(Leases, OfMoreThanTheLogNames) {
    std::string text;
    for (int i = 0; i < 12; i++)
        text += "0:2 ";
    ASSERT_EQ(write("disable_channel", text), 0);
    EXPECT_TRUE(has(machine.done, "disabled 12 channels"));
    EXPECT_FALSE(has(machine.done, "..."));
    ASSERT_EQ(write("disable_channel", text + "0:3"), 0);
    EXPECT_TRUE(has(machine.done, "disabled 13 channels"));
    ASSERT_TRUE(has(machine.done, " ... ("));
    EXPECT_EQ(machine.done.back().find(" " + name_of(3) + " "), std::string::npos);
}

/// A channel that was off before is left off, one that was turned on since is left on.
TEST_P(Leases, OfChannelsUndoOnlyWhatTheyDid) {
    set_enabled(2, false);
    {
        Open open(machine, file("disable_channel"));
        ASSERT_EQ(open.write("lease 0:2 0:3 0:4").error, 0);
        set_enabled(4, true);
        machine.written.clear();
    }
    EXPECT_FALSE(is_enabled(2));
    EXPECT_TRUE(is_enabled(3));
    EXPECT_TRUE(is_enabled(4));
    EXPECT_EQ(writes(state(2)), 0);
    EXPECT_EQ(writes(state(3)), 1);
    EXPECT_EQ(writes(state(4)), 0);
    EXPECT_TRUE(has(machine.done, "lease over: enabled 1 channel: " + name_of(3) + " ("));
}

/// A channel that is named twice is as it was before the first.
TEST_P(Leases, OfAChannelThatIsNamedTwice) {
    {
        Open open(machine, file("disable_channel"));
        ASSERT_EQ(open.write("lease 0:2 0:2").error, 0);
    }
    EXPECT_TRUE(is_enabled(2));
}

/// The id has another owner since: up to Turing a register shows that.
TEST_P(Leases, OfAChannelOfAnotherOwner) {
    if (channels()->instance_in_entry)
        return;
    {
        Open open(machine, file("disable_channel"));
        ASSERT_EQ(open.write("lease 0:2").error, 0);
        machine.on_read = [](u32 offset) {
            return offset == NV_PCCSR_CHANNEL_INST(2) ? std::optional(0x80001234U) : std::nullopt;
        };
        machine.written.clear();
    }
    EXPECT_TRUE(machine.written.empty());
    EXPECT_FALSE(is_enabled(2));
    EXPECT_TRUE(machine.errors.empty());
}

TEST_P(Leases, OfChannelsThatCannotBeRestored) {
    for (const int failing : {1, 2}) {
        machine.errors.clear();
        {
            Open open(machine, file("disable_channel"));
            ASSERT_EQ(open.write("lease 0:2 0:3 0:4").error, 0);
            machine.on_write = [&](u32 offset, u32) {
                return offset == state(2) || (failing == 2 && offset == state(3));
            };
        }
        machine.on_write = nullptr;
        EXPECT_FALSE(is_enabled(2));
        EXPECT_EQ(is_enabled(3), failing == 1);
        EXPECT_TRUE(is_enabled(4));
        ASSERT_EQ(machine.errors.size(), 1U);
        const std::string said = failing == 1
                                     ? "failed to restore 1 channel, the last one channel 2 (-5)"
                                     : "failed to restore 2 channels, the last one channel 2 (-5)";
        EXPECT_TRUE(has(machine.errors, said)) << machine.errors[0];
        for (const u32 id : {2, 3})
            set_enabled(id, true);
    }
}

TEST_P(Leases, OfChannelsWhoseStateCannotBeRead) {
    {
        Open open(machine, file("disable_channel"));
        ASSERT_EQ(open.write("lease 0:2 0:3").error, 0);
        machine.on_read = [&](u32 offset) {
            return offset == state(3) ? std::optional(0xbadf5003) : std::nullopt;
        };
    }
    machine.on_read = nullptr;
    EXPECT_TRUE(is_enabled(2));
    EXPECT_FALSE(is_enabled(3));
    EXPECT_TRUE(has(machine.errors, "failed to restore 1 channel"));
}

/// Of several the second fails: the first is as before, and the error names the second.
TEST_P(Leases, AChannelThatDoesNotFollowUndoesTheOthers) {
    machine.on_write = [&](u32 offset, u32) { return offset == state(3); };
    EXPECT_EQ(write("disable_channel", "0:2 0:3 0:4"), -EIO);
    EXPECT_TRUE(is_enabled(2));
    EXPECT_EQ(writes(state(2)), 2);
    EXPECT_EQ(writes(state(4)), 0);
    EXPECT_TRUE(has(machine.errors, "cannot disable channel 3 (-5)"));
    EXPECT_FALSE(has(machine.errors, "failed to restore"));
    EXPECT_TRUE(machine.done.empty());
    machine.on_write = nullptr;
    set_enabled(2, false);
    machine.on_write = [&](u32 offset, u32) { return offset == state(2); };
    EXPECT_EQ(write("enable_channel", "0:2"), -EIO);
    EXPECT_TRUE(has(machine.errors, "cannot enable channel 2 (-5)"));
}

/// Its write may have had an effect though it cannot be seen.
TEST_P(Leases, AChannelWhoseWriteCannotBeCheckedIsUndone) {
    int reads = 0;
    machine.on_read = [&](u32 offset) {
        return offset == state(2) && ++reads == 2 ? std::optional(0xbadf1100) : std::nullopt;
    };
    EXPECT_EQ(write("disable_channel", "0:2"), -EIO);
    EXPECT_TRUE(is_enabled(2));
    EXPECT_EQ(writes(state(2)), 2);
    reads = 0;
    machine.written.clear();
    machine.on_read = [&](u32 offset) {
        return offset == state(2) ? std::optional(0xbadf1100) : std::nullopt;
    };
    EXPECT_EQ(write("disable_channel", "0:2"), -EIO);
    EXPECT_EQ(writes(state(2)), 0);
}

/// Host looks at an idle runlist again only after its doorbell.
TEST_P(Leases, TheDoorbellIsRungForAChannelThatWasOff) {
    u32 reg = 0, value = 0;
    const bool has_doorbell =
        channels()->doorbell(channels()->per_runlist ? runlist() : nullptr, 2, &reg, &value);
    ASSERT_EQ(write("enable_channel", "0:2"), 0);
    EXPECT_EQ(machine.written.size(), 1U);
    set_enabled(2, false);
    machine.written.clear();
    ASSERT_EQ(write("enable_channel", "0:2"), 0);
    EXPECT_EQ(machine.written.size(), has_doorbell ? 2U : 1U);
    if (has_doorbell) {
        EXPECT_EQ(machine.written.back(), std::pair(reg, value));
    }
    machine.written.clear();
    ASSERT_EQ(write("disable_channel", "0:2"), 0);
    EXPECT_EQ(machine.written.size(), 1U);
}

// --- gates ---

TEST_P(Leases, OfGatesUndoOnlyWhatTheyDid) {
    ASSERT_EQ(write("scheduling", "0 off"), 0);
    {
        Open open(machine, file("scheduling"));
        ASSERT_EQ(open.write("lease 0 off").error, 0);
        machine.written.clear();
        machine.done.clear();
    }
    EXPECT_TRUE(machine.written.empty());
    EXPECT_TRUE(has(machine.done, "lease over: set scheduling of 0 runlists: ("));
    {
        Open open(machine, file("scheduling"));
        ASSERT_EQ(open.write("lease 0 on").error, 0);
        machine.poke(gate(),
                     machine.gpu()->chip->preempt->shared ? 1 : NV_RUNLIST_SCHED_DISABLE_RUNLIST);
        machine.written.clear();
    }
    // it was closed since
    EXPECT_TRUE(machine.written.empty());
    EXPECT_NE(machine.peek(gate()), 0U);
    EXPECT_TRUE(machine.done.back().starts_with("lease over: set scheduling of 0 runlists: ("));
}

TEST_P(Leases, AGateThatCannotBeRestoredIsSaid) {
    {
        Open open(machine, file("scheduling"));
        ASSERT_EQ(open.write("lease 0 off").error, 0);
        machine.done.clear();
        machine.on_write = [](u32, u32) { return true; };
    }
    machine.on_write = nullptr;
    EXPECT_NE(machine.peek(gate()), 0U);
    EXPECT_TRUE(has(machine.errors, "runlist 0: failed to restore scheduling"));
    EXPECT_TRUE(has(machine.done, "set scheduling of 0 runlists"));
}

TEST_P(Leases, OfGatesAreThoseOfTheRequestInItsOrder) {
    const u32 second = machine.gpu()->topology.runlist[1].id;
    machine.done.clear();
    ASSERT_EQ(write("scheduling", "0 off " + std::to_string(second) + " off 0 on"), 0);
    EXPECT_TRUE(has(machine.done, "set scheduling of 3 runlists: 0 off " + std::to_string(second) +
                                      " off 0 on ("));
    EXPECT_EQ(write("scheduling", std::to_string(second) + " on"), 0);
}

/// The second cannot be closed: the first is opened again. One that was closed before stays so.
TEST_P(Leases, AGateThatDoesNotMoveUndoesTheOthers) {
    const nvdebug_runlist *const other = &machine.gpu()->topology.runlist[1];
    const bool shared = machine.gpu()->chip->preempt->shared;
    const u32 second = other->base + machine.gpu()->chip->preempt->gate;
    const u32 bit = shared ? 1U << other->id : NV_RUNLIST_SCHED_DISABLE_RUNLIST;
    machine.on_write = [&](u32 offset, u32 value) { return offset == second && (value & bit); };
    const std::string text = "0 off " + std::to_string(other->id) + " off";
    EXPECT_EQ(write("scheduling", text), -EIO);
    EXPECT_EQ(machine.peek(gate()), 0U);
    EXPECT_EQ(machine.peek(second), 0U);
    EXPECT_TRUE(machine.done.empty());
    ASSERT_EQ(write("scheduling", "0 off"), 0);
    const u32 closed = machine.peek(gate());
    EXPECT_EQ(write("scheduling", text), -EIO);
    EXPECT_EQ(machine.peek(gate()), closed);
}

TEST_P(Leases, ARunlistThatFailsEndsTheRequest) {
    const u32 port = machine.gpu()->chip->submit->port(runlist());
    const u32 list = machine.gpu()->chip->runlist->registers(runlist());
    machine.on_read = [&](u32 offset) {
        return offset == list + machine.gpu()->chip->runlist->length_offset && writes(port)
                   ? std::optional(0xbadf1100)
                   : std::nullopt;
    };
    EXPECT_EQ(write("resubmit_runlist", "0 0"), -EIO);
    EXPECT_EQ(writes(port), 1);
    machine.on_read = nullptr;
    EXPECT_TRUE(machine.done.empty());
    ASSERT_EQ(write("resubmit_runlist", "0 0"), 0);
    EXPECT_TRUE(has(machine.done, "resubmitted 2 runlists: 0 0 ("));
    const nvdebug_preempt_ops *const ops = machine.gpu()->chip->preempt;
    machine.written.clear();
    ASSERT_EQ(write("preempt_runlist", "0"), 0);
    EXPECT_EQ(writes(ops->runlist ? runlist()->base + ops->runlist : port), 1);
    EXPECT_TRUE(has(machine.done, "preempted 1 runlist: 0 ("));
    machine.written.clear();
    ASSERT_EQ(write("preempt_tsg", "0:1 0:0"), 0);
    EXPECT_EQ(writes(runlist()->base + ops->tsg), 2);
    EXPECT_TRUE(has(machine.done, "preempted 2 TSGs: 0:1 0:0 ("));
}

/// Before a driver is bound or unbound: what was changed is the present owner's.
TEST_P(Leases, EndWithTheDriver) {
    Open disable(machine, file("disable_channel"));
    Open gates(machine, file("scheduling"));
    Open none(machine, file("scheduling"));
    for (int round = 0; round < 2; round++) {
        ASSERT_EQ(disable.write("lease 0:2").error, 0);
        ASSERT_EQ(gates.write("lease 0 off").error, 0);
        EXPECT_FALSE(is_enabled(2));
        nvdebug_leases_end_all(machine.gpu());
        EXPECT_TRUE(is_enabled(2));
        EXPECT_EQ(machine.peek(gate()), 0U);
    }
    // and not once more when the files are closed: that would be the next driver's
    set_enabled(2, false);
    {
        Open late(machine, file("disable_channel"));
        ASSERT_EQ(late.write("lease 0:3").error, 0);
        nvdebug_leases_end_all(machine.gpu());
        set_enabled(3, false);
    }
    EXPECT_FALSE(is_enabled(3));
    EXPECT_FALSE(is_enabled(2));
    EXPECT_EQ(shim.in_use, in_use);
    EXPECT_TRUE(machine.errors.empty());
}

/// The id is another channel's by now: its instance block is elsewhere, by a register or by the
/// entry.
TEST_P(Leases, OfAnIdThatWasUsedAgainIsLeftAlone) {
    const nvdebug_runlist_ops *const ops = machine.gpu()->chip->runlist;
    if (!channels()->instance_in_entry)
        return; // by the register: see below
    nvdebug_runlist_location loc{};
    ASSERT_EQ(machine.locked([&] { return ops->location(machine.gpu(), runlist(), &loc); }), 0);
    for (u32 i = 0; i < loc.entries; i++) {
        u32 words[NVDEBUG_ENTRY_WORDS];
        nvdebug_entry entry{};
        const u64 at = loc.addr + 4ULL * i * ops->entry_words;
        for (u32 k = 0; k < ops->entry_words; k++)
            words[k] = *machine.Model::memory_read(loc.aperture, at + 4 * k);
        ASSERT_EQ(ops->decode(words, ops->entry_words, &entry), 0);
        if (entry.kind != NVDEBUG_ENTRY_CHANNEL || entry.id != 2)
            continue;
        const u64 word = at + 8;
        const u32 was = *machine.Model::memory_read(loc.aperture, word);
        for (const u32 bit : {0x1000U, 0x100U}) { // of the instance block's address; of the id
            for (const bool changed : {false, true}) {
                machine.errors.clear();
                {
                    Open open(machine, file("disable_channel"));
                    ASSERT_EQ(open.write("lease 0:2").error, 0);
                    if (changed)
                        machine.Model::memory_write(loc.aperture, word, was ^ bit);
                    shim.killed = true; // as at the end of a killed process
                }
                shim.killed = false;
                EXPECT_EQ(is_enabled(2), !changed) << bit;
                machine.Model::memory_write(loc.aperture, word, was);
                set_enabled(2, true);
                EXPECT_TRUE(machine.errors.empty());
            }
        }
        // a list that cannot be read at the end: nothing is written, and the log has a line
        {
            Open open(machine, file("disable_channel"));
            ASSERT_EQ(open.write("lease 0:2").error, 0);
            machine.on_memory_read = [](u64) { return std::optional(0xbadf1100); };
        }
        machine.on_memory_read = nullptr;
        EXPECT_FALSE(is_enabled(2));
        EXPECT_TRUE(has(machine.errors, "failed to restore 1 channel"));
        set_enabled(2, true);
        // one that could not be read when the lease began: the id decides alone
        {
            Open open(machine, file("disable_channel"));
            machine.on_memory_read = [](u64) { return std::optional(0xbadf1100); };
            ASSERT_EQ(open.write("lease 0:2").error, 0);
            machine.on_memory_read = nullptr;
            EXPECT_FALSE(is_enabled(2));
        }
        EXPECT_TRUE(is_enabled(2));
        return;
    }
    FAIL() << "channel 2 is not listed";
}

/// One of many targets may take seconds, in which others wait for the lock, or the GPU is removed.
TEST_P(Leases, EachTargetTakesTheLockByItself) {
    const nvdebug_preempt_ops *const ops = machine.gpu()->chip->preempt;
    const std::vector<std::pair<std::string, std::string>> requests{
        {"preempt_tsg", "0:1 0:0 0:1 0:0 0:1 0:0 0:1 0:0"},
        {"preempt_runlist", "0 0 0 0 0 0 0 0"},
        {"resubmit_runlist", "0 0 0 0 0 0 0 0"},
        {"scheduling", "0 off 0 on 0 off 0 on 0 off 0 on 0 off 0 on"},
    };
    for (const auto &[name, text] : requests) {
        const unsigned long before = machine.gpu()->lock.taken;
        ASSERT_EQ(write(name, text), 0) << name;
        EXPECT_GE(machine.gpu()->lock.taken - before, 8U) << name;
    }
    machine.written.clear();
    machine.on_write = [this](u32, u32) {
        machine.leaving = true;
        return false;
    };
    EXPECT_EQ(write("scheduling", "0 off 0 on 0 off 0 on"), -ENODEV);
    EXPECT_EQ(machine.peek(gate()), 0U);
    EXPECT_EQ(writes(gate()), 2); // the first one, and that it is put back
    machine.leaving = false;
    machine.written.clear();
    EXPECT_EQ(write("preempt_tsg", "0:1 0:0"), -ENODEV);
    EXPECT_LE(writes(runlist()->base + ops->tsg), 1);
    machine.on_write = nullptr;
    machine.leaving = false;
}

/// Up to Turing one register has the gates of all runlists.
TEST_P(Leases, OfAGateWriteItsRegisterWithInterruptsOff) {
    int checked = 0;
    machine.on_write = [&](u32 offset, u32) {
        EXPECT_EQ(offset, gate());
        EXPECT_TRUE(shim.irqs_off);
        checked++;
        return false;
    };
    EXPECT_EQ(write("scheduling", "0 off"), 0);
    EXPECT_EQ(write("scheduling", "0 on"), 0);
    machine.on_write = nullptr;
    EXPECT_EQ(checked, 2);
    EXPECT_FALSE(shim.irqs_off);
}

/// PCCSR has bits of a driver's beside those that are written.
TEST_P(Leases, OfAChannelWriteItsRegisterWithInterruptsOff) {
    int checked = 0;
    machine.on_write = [&](u32 offset, u32) {
        if (offset == channels()->reg(runlist(), 2)) {
            EXPECT_TRUE(shim.irqs_off);
            checked++;
        }
        return false;
    };
    EXPECT_EQ(write("disable_channel", "0:2"), 0);
    EXPECT_EQ(write("enable_channel", "0:2"), 0);
    machine.on_write = nullptr;
    EXPECT_EQ(checked, 2);
    EXPECT_FALSE(shim.irqs_off);
}

// --- a runlist with registers that do not answer ---

TEST_P(Leases, OfOneRunlistWhereAnotherCannotBeRead) {
    const nvdebug_topology &topology = machine.gpu()->topology;
    ASSERT_GT(topology.runlists, 1U);
    const nvdebug_runlist &second = topology.runlist[1];
    if (machine.gpu()->chip->preempt->shared)
        return; // one register for the gates of all
    const u32 gate_of_second = second.base + machine.gpu()->chip->preempt->gate;
    const std::string before = read(machine, file("scheduling")).text;
    machine.on_read = [=](u32 offset) {
        return offset == gate_of_second ? std::optional(0xbadf5040) : std::nullopt;
    };
    const Text some = read(machine, file("scheduling"));
    EXPECT_EQ(some.error, 0);
    const std::string line = "\n" + std::to_string(second.id) + " ";
    std::string expected = before;
    expected.replace(expected.find(line + "on\n"), (line + "on\n").size(), line + "unreadable\n");
    EXPECT_EQ(some.text, expected);
    EXPECT_EQ(write("scheduling", "0 off"), 0);
    EXPECT_EQ(write("scheduling", "0 on"), 0);
    go();
    EXPECT_EQ(read(machine, file("scheduling")).error, -ENODEV);
    machine.on_read = nullptr;
}

TEST_P(Leases, OfContextsWhereARunlistCannotBeRead) {
    const nvdebug_topology &topology = machine.gpu()->topology;
    const nvdebug_runlist_ops *const ops = machine.gpu()->chip->runlist;
    const std::string before = read(machine, file("contexts")).text;
    const std::string none = " - - - - - - - unreadable\n";
    EXPECT_EQ(before.find(none), std::string::npos);
    // an empty one, and the one with all tasks
    for (const u32 which : {1U, 0U}) {
        const u32 reg = ops->registers(&topology.runlist[which]) + ops->length_offset;
        machine.on_read = [=](u32 offset) {
            return offset == reg ? std::optional(0xbadf5040) : std::nullopt;
        };
        const Text some = read(machine, file("contexts"));
        machine.on_read = nullptr;
        ASSERT_EQ(some.error, 0) << which;
        const std::string line = "\n" + std::to_string(topology.runlist[which].id) + none;
        EXPECT_NE(some.text.find(line), std::string::npos) << some.text;
        if (which == 1)
            EXPECT_EQ(some.text.size(), before.size() + line.size() - 1);
        else
            EXPECT_EQ(some.text.find("\n0 1 "), std::string::npos);
    }
    go();
    EXPECT_EQ(read(machine, file("contexts")).error, -ENODEV);
    machine.on_read = nullptr;
}

// --- switch_to_tsg and set_timeslice ---

TEST_P(Leases, OfASwitchThatCannotBeUndone) {
    {
        Open open(machine, file("switch_to_tsg"));
        ASSERT_EQ(open.write("lease 0:1").error, 0);
        EXPECT_TRUE(has(machine.done, "switched to 1 TSG: 0:1 ("));
        machine.on_write = [](u32, u32) { return true; };
    }
    machine.on_write = nullptr;
    EXPECT_TRUE(has(machine.errors, "runlist 0 may still be one TSG's alone (-5)"));
    EXPECT_TRUE(has(machine.done, "lease over: resubmitted 0 runlists"));
    machine.retire();
    EXPECT_EQ(shim.in_use, in_use);
}

TEST_P(Leases, OfASwitchWhoseListTheDriverReplaced) {
    {
        Open open(machine, file("switch_to_tsg"));
        ASSERT_EQ(open.write("lease 0:1").error, 0);
        machine.model().resubmit(0);
        machine.model().advance(1000 * nvmodel::ns_per_us);
        machine.written.clear();
    }
    EXPECT_TRUE(machine.written.empty());
    EXPECT_TRUE(has(machine.done, "lease over: resubmitted 0 runlists"));
    EXPECT_TRUE(machine.errors.empty());
    EXPECT_EQ(shim.in_use, in_use);
}

class Timeslices : public Leases {
  protected:
    Timeslices() {
        nvdebug_runlist_location loc{};
        EXPECT_EQ(machine.locked([&] {
            return machine.gpu()->chip->runlist->location(machine.gpu(), runlist(), &loc);
        }),
                  0);
        aperture = loc.aperture;
        // the second TSG's header, after the first one's and its two channels
        header = loc.addr + 4ULL * 3 * machine.gpu()->chip->runlist->entry_words;
        old = word();
    }
    [[nodiscard]] u32 word() { return *machine.Model::memory_read(aperture, header); }
    void set_word(u32 value) { machine.Model::memory_write(aperture, header, value); }

    u8 aperture = 0;
    u64 header = 0;
    u32 old = 0;
};

TEST_P(Timeslices, AreRestoredWithTheirLease) {
    {
        Open open(machine, file("set_timeslice"));
        const Text answer = open.write("lease 0:1 4000");
        ASSERT_EQ(answer.error, 0);
        EXPECT_NE(answer.text.find("headers: 1\n"), std::string::npos);
        EXPECT_NE(word(), old);
        machine.written.clear();
    }
    EXPECT_EQ(word(), old);
    EXPECT_FALSE(machine.written.empty()); // submitted again
    EXPECT_TRUE(has(machine.done, "lease over: set the timeslice of 1 TSG: 0:1 "));
    EXPECT_TRUE(machine.errors.empty());
}

/// In another order what one lease found would be what another has left.
TEST_P(Timeslices, AreRestoredTheLastOneFirst) {
    {
        Open open(machine, file("set_timeslice"));
        for (const char *const value : {"500", "3000", "100", "3000"})
            ASSERT_EQ(open.write(std::string("lease 0:1 ") + value).error, 0) << value;
        EXPECT_NE(word(), old);
    }
    EXPECT_EQ(word(), old);
}

TEST_P(Timeslices, ThatSomebodyHasChangedSinceAreLeftAlone) {
    u32 theirs = 0;
    {
        Open open(machine, file("set_timeslice"));
        ASSERT_EQ(open.write("lease 0:1 4000").error, 0);
        theirs = machine.gpu()->chip->runlist->set_timeslice(word(), 7, 3);
        ASSERT_NE(theirs, word());
        set_word(theirs);
        machine.written.clear();
    }
    EXPECT_EQ(word(), theirs);
    EXPECT_TRUE(machine.written.empty());
    EXPECT_TRUE(machine.errors.empty());
    EXPECT_TRUE(has(machine.done, "lease over: set the timeslice of 0 TSGs"));
}

TEST_P(Timeslices, OfAListThatTheDriverReplacedAreLeftAlone) {
    int words = 0;
    {
        Open open(machine, file("set_timeslice"));
        ASSERT_EQ(open.write("lease 0:1 4000").error, 0);
        machine.model().rotate(0);
        machine.model().advance(1000 * nvmodel::ns_per_us);
        machine.written.clear();
        machine.on_memory_write = [&](u64, u32) { return words++, false; };
    }
    machine.on_memory_write = nullptr;
    EXPECT_TRUE(machine.written.empty());
    EXPECT_EQ(words, 0);
    EXPECT_TRUE(machine.errors.empty());
}

/// What is as it was need not be written back.
TEST_P(Timeslices, ThatDoNotChangeAreNotSubmittedAgain) {
    ASSERT_EQ(write("set_timeslice", "0:1 4000"), 0);
    const u32 now = word();
    {
        Open open(machine, file("set_timeslice"));
        ASSERT_EQ(open.write("lease 0:1 4000").error, 0);
        machine.written.clear();
    }
    EXPECT_TRUE(machine.written.empty());
    EXPECT_EQ(word(), now);
}

TEST_P(Timeslices, OfAListInItsOverrideListsPlace) {
    {
        Open open(machine, file("set_timeslice"));
        ASSERT_EQ(open.write("lease 0:1 4000").error, 0);
        ASSERT_EQ(write("switch_to_tsg", "0:2"), 0);
        machine.written.clear();
    }
    // the driver's list has its old words again, and the override list is still current
    EXPECT_EQ(word(), old);
    EXPECT_TRUE(machine.written.empty());
    EXPECT_TRUE(machine.errors.empty());
    machine.retire();
}

TEST_P(Timeslices, ThatCannotBeWrittenAreAnError) {
    machine.on_memory_write = [this](u64 address, u32) { return address == header; };
    EXPECT_EQ(write("set_timeslice", "0:1 4000"), -EIO);
    EXPECT_EQ(word(), old);
    EXPECT_TRUE(machine.written.empty());
    EXPECT_TRUE(machine.errors.empty());
    machine.on_memory_write = nullptr;
}

/// Written, but it cannot be read back: put back as far as it is known.
TEST_P(Timeslices, ThatCannotBeRestoredAreSaid) {
    {
        Open open(machine, file("set_timeslice"));
        ASSERT_EQ(open.write("lease 0:1 4000").error, 0);
        machine.on_memory_write = [](u64, u32) { return true; };
    }
    machine.on_memory_write = nullptr;
    EXPECT_NE(word(), old);
    EXPECT_TRUE(has(machine.errors, "TSG 1: failed to restore 1 timeslices (-5)"));
}

/// The driver overwrites the header while the list is submitted again.
TEST_P(Timeslices, ThatTheDriverOverwritesMeanwhileAreItsOwn) {
    const u32 theirs = machine.gpu()->chip->runlist->set_timeslice(old, 7, 3);
    machine.on_write = [&](u32, u32) {
        set_word(theirs);
        return false;
    };
    EXPECT_EQ(write("set_timeslice", "0:1 4000"), -EBUSY);
    EXPECT_EQ(word(), theirs);
    EXPECT_TRUE(machine.errors.empty());
}

/// The list cannot be submitted again: the old words are in it all the same.
TEST_P(Timeslices, ThatCannotBeSubmittedAreRestored) {
    machine.on_write = [](u32, u32) { return true; };
    const int error = write("set_timeslice", "0:1 4000");
    machine.on_write = nullptr;
    // the same words are in the registers: on a chip that shows no more it cannot be detected
    if (error) {
        EXPECT_EQ(word(), old);
    } else {
        EXPECT_NE(word(), old);
    }
}

TEST_P(Timeslices, OfADyingTaskAreRestored) {
    machine.on_memory_write = [this](u64 address, u32) {
        shim.killed = shim.killed || address == header;
        return false;
    };
    EXPECT_EQ(write("set_timeslice", "0:1 4000"), -EINTR);
    shim.killed = false;
    machine.on_memory_write = nullptr;
    EXPECT_EQ(word(), old);
    EXPECT_TRUE(machine.errors.empty());
}

TEST_P(Timeslices, OfATsgThatIsListedTwice) {
    // the third TSG's header becomes another one of the second
    const u64 third = header + 4ULL * 3 * machine.gpu()->chip->runlist->entry_words;
    const u32 entry_words = machine.gpu()->chip->runlist->entry_words;
    std::vector<u32> was;
    for (u32 i = 0; i < entry_words; i++) {
        was.push_back(*machine.Model::memory_read(aperture, third + 4 * i));
        machine.Model::memory_write(aperture, third + 4 * i,
                                    *machine.Model::memory_read(aperture, header + 4 * i));
    }
    {
        Open open(machine, file("set_timeslice"));
        const Text answer = open.write("lease 0:1 4000");
        ASSERT_EQ(answer.error, 0);
        EXPECT_NE(answer.text.find("headers: 2\n"), std::string::npos);
        EXPECT_NE(*machine.Model::memory_read(aperture, third), old);
        EXPECT_NE(word(), old);
    }
    EXPECT_EQ(*machine.Model::memory_read(aperture, third), old);
    EXPECT_EQ(word(), old);
    for (u32 i = 0; i < entry_words; i++)
        machine.Model::memory_write(aperture, third + 4 * i, was[i]);
}

const auto boards = testing::Values("gtx1080ti", "titan-v", "rtx2080ti", "a100", "h200");

INSTANTIATE_TEST_SUITE_P(Boards, Leases, boards, name_of_board);
INSTANTIATE_TEST_SUITE_P(Boards, Timeslices, boards, name_of_board);

} // namespace
} // namespace core
