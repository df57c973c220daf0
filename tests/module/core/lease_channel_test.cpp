// SPDX-License-Identifier: MIT OR GPL-2.0
// Leases of channels that were disabled or enabled: which channels are restored, and which ones are
// left alone because they are others' by now.
#include "leases.hpp"

extern "C" {
#include "hw/pfifo.h"
}

#include <utility>

namespace core {
namespace {

class ChannelLeases : public Leases {};

TEST_P(ChannelLeases, LogNamesTheChannels) {
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

TEST_P(ChannelLeases, LogNamesTwelveChannelsAtMost) {
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

/// A channel that was disabled before the lease stays disabled, and a channel that was enabled
/// since stays enabled.
TEST_P(ChannelLeases, EndRestoresOnlyItsOwnChanges) {
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
    EXPECT_EQ(machine.writes(state(2)), 0);
    EXPECT_EQ(machine.writes(state(3)), 1);
    EXPECT_EQ(machine.writes(state(4)), 0);
    EXPECT_TRUE(has(machine.done, "lease over: enabled 1 channel: " + name_of(3) + " ("));
}

/// A channel that is named twice gets back the state from before the first change.
TEST_P(ChannelLeases, ChannelNamedTwiceIsRestored) {
    {
        Open open(machine, file("disable_channel"));
        ASSERT_EQ(open.write("lease 0:2 0:2").error, 0);
    }
    EXPECT_TRUE(is_enabled(2));
}

/// The id has got another owner during the lease. Up to Turing a register shows the owner.
TEST_P(ChannelLeases, ChannelOfAnotherOwnerIsLeftAlone) {
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

TEST_P(ChannelLeases, ChannelsThatCannotBeRestoredAreLogged) {
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

TEST_P(ChannelLeases, ChannelWhoseStateCannotBeReadIsLogged) {
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

/// The second of three channels fails. The first one is restored, and the error names the second
/// one.
TEST_P(ChannelLeases, ChannelThatDoesNotFollowUndoesTheOthers) {
    machine.on_write = [&](u32 offset, u32) { return offset == state(3); };
    EXPECT_EQ(write("disable_channel", "0:2 0:3 0:4"), -EIO);
    EXPECT_TRUE(is_enabled(2));
    EXPECT_EQ(machine.writes(state(2)), 2);
    EXPECT_EQ(machine.writes(state(4)), 0);
    EXPECT_TRUE(has(machine.errors, "cannot disable channel 3 (-5)"));
    EXPECT_FALSE(has(machine.errors, "failed to restore"));
    EXPECT_TRUE(machine.done.empty());
    machine.on_write = nullptr;
    set_enabled(2, false);
    machine.on_write = [&](u32 offset, u32) { return offset == state(2); };
    EXPECT_EQ(write("enable_channel", "0:2"), -EIO);
    EXPECT_TRUE(has(machine.errors, "cannot enable channel 2 (-5)"));
}

/// The write cannot be checked, but it may have had an effect.
TEST_P(ChannelLeases, ChannelWhoseWriteCannotBeCheckedIsUndone) {
    int reads = 0;
    machine.on_read = [&](u32 offset) {
        return offset == state(2) && ++reads == 2 ? std::optional(0xbadf1100) : std::nullopt;
    };
    EXPECT_EQ(write("disable_channel", "0:2"), -EIO);
    EXPECT_TRUE(is_enabled(2));
    EXPECT_EQ(machine.writes(state(2)), 2);
    reads = 0;
    machine.written.clear();
    machine.on_read = [&](u32 offset) {
        return offset == state(2) ? std::optional(0xbadf1100) : std::nullopt;
    };
    EXPECT_EQ(write("disable_channel", "0:2"), -EIO);
    EXPECT_EQ(machine.writes(state(2)), 0);
}

/// Host looks at an idle runlist again only after its doorbell has rung.
TEST_P(ChannelLeases, DoorbellIsRungForAChannelThatWasOff) {
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

/// The id belongs to another channel by now: the list's entry has another instance block or another
/// id.
TEST_P(ChannelLeases, ReusedIdIsLeftAlone) {
    const nvdebug_runlist_ops *const ops = machine.gpu()->chip->runlist;
    if (!channels()->instance_in_entry)
        return; // ChannelOfAnotherOwnerIsLeftAlone covers these
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
        // a bit of the instance block's address, and a bit of the id
        for (const u32 bit : {0x1000U, 0x100U}) {
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
        // The list cannot be read at the end of the lease: nothing is written, and the log has a
        // line.
        {
            Open open(machine, file("disable_channel"));
            ASSERT_EQ(open.write("lease 0:2").error, 0);
            machine.on_memory_read = [](u64) { return std::optional(0xbadf1100); };
        }
        machine.on_memory_read = nullptr;
        EXPECT_FALSE(is_enabled(2));
        EXPECT_TRUE(has(machine.errors, "failed to restore 1 channel"));
        set_enabled(2, true);
        // The list could not be read when the lease began, so the id alone decides.
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

/// PCCSR has bits of the driver's beside the bits that are written, so nothing may come between the
/// read and the write.
TEST_P(ChannelLeases, RegisterIsWrittenWithInterruptsOff) {
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

INSTANTIATE_TEST_SUITE_P(Boards, ChannelLeases,
                         testing::Values("gtx1080ti", "titan-v", "rtx2080ti", "a100", "h200"),
                         name_of_board);

} // namespace
} // namespace core
