// SPDX-License-Identifier: MIT OR GPL-2.0
// Requests act only on the list that they have read, while the driver's list moves.
#include "requests.hpp"
#include "text.hpp"

extern "C" {
#include "chips/chips.h"
}

#include <array>
#include <utility>

namespace core {
namespace {

/// The driver's list stands in two places with the same words. The registers name one of them.
class Moving : public Requests {
  protected:
    Moving() {
        const nvdebug_runlist *const list = &machine.gpu()->topology.runlist[0];
        const nvdebug_runlist_ops *const ops = machine.gpu()->chip->runlist;
        EXPECT_EQ(machine.locked([&] { return ops->location(machine.gpu(), list, &loc); }), 0);
        reg = ops->registers(list);
        bytes = 4ULL * loc.entries * ops->entry_words;
        const bool in_pages = GetParam() == "gtx1080ti" || GetParam() == "titan-v";
        shown[0] = machine.peek(reg);
        shown[1] = shown[0] + (in_pages ? distance >> 12 : distance);
    }
    /// Calls `look` at each read of the registers. Its arguments are the number of copies that were
    /// begun, and whether this is the first read since a copy began. It returns the place that the
    /// registers name.
    template <typename Look>
    void watch(Look look) {
        copies = words = 0;
        place = false;
        first_look = false;
        machine.on_read = [this, look](u32 offset) -> std::optional<u32> {
            if (offset != reg)
                return std::nullopt;
            place = look(copies, std::exchange(first_look, false));
            return shown[place];
        };
        machine.on_memory_read = [this](u64 address) -> std::optional<u32> {
            const bool there = address - loc.addr - distance < bytes;
            if (address == loc.addr || address == loc.addr + distance) {
                copies++;
                first_look = true;
            }
            return there ? machine.Model::memory_read(loc.aperture, address - distance)
                         : std::nullopt;
        };
        machine.on_memory_write = [this](u64, u32) { return words++, false; };
    }

    static constexpr u32 distance = 0x10000;
    nvdebug_runlist_location loc{};
    u64 bytes = 0;
    u32 reg = 0;
    std::array<u32, 2> shown{};
    bool place = false, first_look = false;
    int copies = 0; // copies that were begun
    int words = 0;  // words that were written
};

/// The list moves after each of three copies and then moves back, so it is unknown what was copied.
TEST_P(Moving, ListThatMovesDuringEachCopyIsBusy) {
    std::vector<std::string> copying{"translate", "preempt_tsg", "switch_to_tsg", "set_timeslice",
                                     "preemption_mode"};
    if (!machine.gpu()->chip->channel->per_runlist)
        copying.insert(copying.end(), {"disable_channel", "enable_channel"});
    of_each([&](const Request &request) {
        int refused = 0;
        for (const int before : {0, 1, 2}) {
            begin();
            watch([=, this](int begun, bool first) {
                if (begun <= before || (begun == before + 3 && !first))
                    return false;
                return begun <= before + 3 && first ? !place : place;
            });
            const int error = write(request.file, request.text);
            leave_alone();
            if (copies < before + 3)
                continue;
            refused++;
            EXPECT_EQ(error, -EBUSY) << request.file << ", after copy " << before;
            EXPECT_TRUE(machine.written.empty()) << request.file << ", after copy " << before;
            EXPECT_EQ(words, 0) << request.file << ", after copy " << before;
        }
        EXPECT_EQ(refused > 0, std::ranges::count(copying, request.file) > 0) << request.file;
    });
}

/// The words that were read are the driver's list no longer.
TEST_P(Moving, ListThatMovesAfterTheCopyIsBusy) {
    for (const Request &request :
         {Request{"switch_to_tsg", "0:1"}, {"set_timeslice", "0:1 4000"}}) {
        begin();
        // The first copy shows whether the TSG is listed, and the second one has all entries.
        watch([](int begun, bool first) { return begun >= 2 && !first; });
        EXPECT_EQ(write(request.file, request.text), -EBUSY) << request.file;
        leave_alone();
        EXPECT_EQ(copies, 2) << request.file;
        EXPECT_TRUE(machine.written.empty()) << request.file;
        EXPECT_EQ(words, 0) << request.file;
        EXPECT_TRUE(machine.errors.empty()) << request.file;
    }
}

/// The TSG's header has been overwritten by the time it is to be written.
TEST_P(Moving, OverwrittenHeaderIsLeftAlone) {
    const u64 header = loc.addr + 3ULL * 4 * machine.gpu()->chip->runlist->entry_words;
    constexpr u32 theirs = 0x5a5a5a5a;
    watch([&](int begun, bool first) {
        if (begun >= 2 && !first)
            machine.Model::memory_write(loc.aperture, header, theirs);
        return false;
    });
    EXPECT_EQ(write("set_timeslice", "0:1 4000"), -EBUSY);
    leave_alone();
    EXPECT_EQ(words, 0);
    EXPECT_EQ(machine.Model::memory_read(loc.aperture, header), theirs);
    EXPECT_TRUE(machine.written.empty());
    EXPECT_TRUE(machine.errors.empty());
}

/// The header is written, and then the list moves, so the memory has another owner.
TEST_P(Moving, HeaderIsNotRestoredInAListThatHasMoved) {
    watch([this](int, bool) { return words > 0; });
    EXPECT_EQ(write("set_timeslice", "0:1 4000"), -EBUSY);
    leave_alone();
    EXPECT_EQ(words, 1);
    EXPECT_TRUE(machine.written.empty());
    EXPECT_TRUE(machine.errors.empty());
}

/// The registers cannot be read after the write to the header, so the header is not restored, and
/// the log has a line about it.
TEST_P(Moving, UnreadableRegistersAreLogged) {
    machine.on_read = [this](u32 offset) {
        return offset == reg && words ? std::optional(0xbadf1100) : std::nullopt;
    };
    machine.on_memory_write = [this](u64, u32) { return words++, false; };
    EXPECT_EQ(write("set_timeslice", "0:1 4000"), -EIO);
    leave_alone();
    EXPECT_EQ(words, 1);
    ASSERT_EQ(machine.errors.size(), 1U);
    EXPECT_EQ(machine.errors[0], "TSG 1: failed to restore 1 timeslices (-5)\n");
}

/// The end of a lease logs the same failure.
TEST_P(Moving, UnreadableRegistersAreLoggedAtTheEndOfALease) {
    {
        Open open(machine, *find("set_timeslice"));
        ASSERT_EQ(open.write("lease 0:1 4000").error, 0);
        machine.done.clear();
        machine.on_read = [this](u32 offset) {
            return offset == reg ? std::optional(0xbadf1100) : std::nullopt;
        };
        machine.on_memory_write = [this](u64, u32) { return words++, false; };
    }
    leave_alone();
    EXPECT_EQ(words, 0);
    ASSERT_EQ(machine.errors.size(), 1U);
    EXPECT_EQ(machine.errors[0], "TSG 1: failed to restore the timeslice (-5)\n");
    EXPECT_EQ(machine.done,
              std::vector<std::string>{"lease over: set the timeslice of 0 TSGs: (by uid 0)\n"});
}

INSTANTIATE_TEST_SUITE_P(Boards, Moving,
                         testing::Values("gtx1080ti", "titan-v", "rtx2080ti", "a100", "h200"),
                         name_of_board);

} // namespace
} // namespace core
