// SPDX-License-Identifier: MIT OR GPL-2.0
// Requests act on no list but the one that they have read, when the driver's list moves meanwhile.
#include "requests.hpp"
#include "text.hpp"

extern "C" {
#include "chips/chips.h"
}

#include <array>
#include <utility>

namespace core {
namespace {

/// The driver's list, in two places with the same words: the registers name one of them.
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
    /// `after_copy` is asked at each look at the registers: how many copies have been begun, and is
    /// it the first look since? It returns in which place the list is.
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
    int copies = 0; // that were begun
    int words = 0;  // that were written
};

/// After each of three copies it is elsewhere, and then it is back: there is no telling what was
/// copied.
TEST_P(Moving, WhileItIsCopied) {
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

/// What was read is the driver's list no longer.
TEST_P(Moving, OnceItWasCopied) {
    for (const Request &request :
         {Request{"switch_to_tsg", "0:1"}, {"set_timeslice", "0:1 4000"}}) {
        begin();
        // one to find out whether the TSG is listed, and one of all its entries
        watch([](int begun, bool first) { return begun >= 2 && !first; });
        EXPECT_EQ(write(request.file, request.text), -EBUSY) << request.file;
        leave_alone();
        EXPECT_EQ(copies, 2) << request.file;
        EXPECT_TRUE(machine.written.empty()) << request.file;
        EXPECT_EQ(words, 0) << request.file;
        EXPECT_TRUE(machine.errors.empty()) << request.file;
    }
}

/// What was the TSG's header is something else by the time it is written.
TEST_P(Moving, WhoseHeaderIsOverwritten) {
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

/// The header is written, and then the list is another one: its memory has another owner.
TEST_P(Moving, WhileItsTimesliceIsSet) {
    watch([this](int, bool) { return words > 0; });
    EXPECT_EQ(write("set_timeslice", "0:1 4000"), -EBUSY);
    leave_alone();
    EXPECT_EQ(words, 1);
    EXPECT_TRUE(machine.written.empty());
    EXPECT_TRUE(machine.errors.empty());
}

/// The registers cannot be read any more: the log has that the header was not put back.
TEST_P(Moving, WhereItCannotBeSeen) {
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

/// A lease that ends then logs it, too.
TEST_P(Moving, WhereItCannotBeSeenAtTheEndOfALease) {
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
