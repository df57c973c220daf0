// SPDX-License-Identifier: MIT OR GPL-2.0
// Leases of timeslices, while a driver changes the list.
#include "leases.hpp"
#include "text.hpp"

#include <optional>

namespace core {
namespace {

class Timeslices : public Leases {
  protected:
    Timeslices() {
        nvdebug_runlist_location loc{};
        EXPECT_EQ(machine.locked([&] {
            return machine.gpu()->chip->runlist->location(machine.gpu(), runlist(), &loc);
        }),
                  0);
        aperture = loc.aperture;
        // The second TSG's header stands behind the first header and its two channels.
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
        EXPECT_EQ(answer.text, "runlist: 0\ntsg: 1\nasked_us: 4000.000\nold_us: 1998.848\n"
                               "new_us: 3997.696\ntimeout: 244\nscale: 4\nheaders: 1\n");
        EXPECT_NE(word(), old);
        machine.written.clear();
    }
    EXPECT_EQ(word(), old);
    EXPECT_FALSE(machine.written.empty()); // submitted again
    EXPECT_TRUE(has(machine.done, "lease over: set the timeslice of 1 TSG: 0:1 "));
    EXPECT_TRUE(machine.errors.empty());
}

/// In another order, a lease would restore the timeslice that another lease had set.
TEST_P(Timeslices, AreRestoredInReverseOrder) {
    {
        Open open(machine, file("set_timeslice"));
        for (const char *const value : {"500", "3000", "100", "3000"})
            ASSERT_EQ(open.write(std::string("lease 0:1 ") + value).error, 0) << value;
        EXPECT_NE(word(), old);
    }
    EXPECT_EQ(word(), old);
}

TEST_P(Timeslices, ChangeBySomebodyElseIsLeftAlone) {
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

TEST_P(Timeslices, ChangeByAnotherRequestIsLeftAlone) {
    u32 theirs = 0;
    {
        Open open(machine, file("set_timeslice"));
        ASSERT_EQ(open.write("lease 0:1 500").error, 0);
        ASSERT_EQ(write("set_timeslice", "0:1 3000"), 0);
        theirs = word();
        EXPECT_NE(theirs, old);
        machine.written.clear();
    }
    EXPECT_EQ(word(), theirs);
    EXPECT_TRUE(machine.written.empty());
    EXPECT_TRUE(machine.errors.empty());
}

/// An override list comes and goes while a timeslice is leased, in either order.
TEST_P(Timeslices, AreRestoredWhicheverListIsCurrent) {
    const auto where = [this] {
        Fields head = boxes(read(machine, file("runlist0_brief")).text).at(0).fields;
        return head["Address"] + " " + head["Entries"];
    };
    const std::string drivers = where();
    for (const bool list_first : {false, true}) {
        std::optional<Open> list, slice;
        const auto take_list = [&] {
            return list.emplace(machine, file("switch_to_tsg")).write("lease 0:1").error;
        };
        ASSERT_EQ(list_first ? take_list() : 0, 0);
        ASSERT_EQ(slice.emplace(machine, file("set_timeslice")).write("lease 0:1 500").error, 0);
        ASSERT_EQ(list_first ? 0 : take_list(), 0);
        EXPECT_NE(where(), drivers) << list_first;
        // behind an override list, that list has the timeslice
        EXPECT_EQ(word() == old, list_first);
        (list_first ? list : slice).reset();
        EXPECT_EQ(word(), old) << list_first;
        (list_first ? slice : list).reset();
        EXPECT_EQ(word(), old) << list_first;
        EXPECT_EQ(where(), drivers) << list_first;
        EXPECT_TRUE(machine.errors.empty()) << list_first;
        EXPECT_EQ(shim.in_use, in_use) << list_first;
    }
}

TEST_P(Timeslices, ListThatTheDriverReplacedIsLeftAlone) {
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

/// The lease has set the timeslice that was there before, so its end writes nothing.
TEST_P(Timeslices, UnchangedOnesAreNotSubmittedAgain) {
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

TEST_P(Timeslices, AreRestoredBehindAnOverrideList) {
    {
        Open open(machine, file("set_timeslice"));
        ASSERT_EQ(open.write("lease 0:1 4000").error, 0);
        ASSERT_EQ(write("switch_to_tsg", "0:2"), 0);
        machine.written.clear();
    }
    // The driver's list has its old words again, and the override list is still current.
    EXPECT_EQ(word(), old);
    EXPECT_TRUE(machine.written.empty());
    EXPECT_TRUE(machine.errors.empty());
    machine.retire();
}

TEST_P(Timeslices, FailedWriteIsAnError) {
    machine.on_memory_write = [this](u64 address, u32) { return address == header; };
    EXPECT_EQ(write("set_timeslice", "0:1 4000"), -EIO);
    EXPECT_EQ(word(), old);
    EXPECT_TRUE(machine.written.empty());
    EXPECT_TRUE(machine.errors.empty());
    machine.on_memory_write = nullptr;
}

/// The end of the lease cannot restore the word.
TEST_P(Timeslices, FailedRestoreIsLogged) {
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
TEST_P(Timeslices, DriversWriteDuringTheSubmitStays) {
    const u32 theirs = machine.gpu()->chip->runlist->set_timeslice(old, 7, 3);
    machine.on_write = [&](u32, u32) {
        set_word(theirs);
        return false;
    };
    EXPECT_EQ(write("set_timeslice", "0:1 4000"), -EBUSY);
    EXPECT_EQ(word(), theirs);
    EXPECT_TRUE(machine.errors.empty());
}

/// The list cannot be submitted again, but it has its old words again.
TEST_P(Timeslices, FailedSubmitRestoresTheWords) {
    machine.on_write = [](u32, u32) { return true; };
    const int error = write("set_timeslice", "0:1 4000");
    machine.on_write = nullptr;
    // The registers have the same words as before. A chip that shows no more cannot detect the
    // failure.
    if (error) {
        EXPECT_EQ(word(), old);
    } else {
        EXPECT_NE(word(), old);
    }
}

TEST_P(Timeslices, DyingTaskRestoresTheWords) {
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

TEST_P(Timeslices, AllHeadersOfATsgAreSetAndRestored) {
    // The third TSG's header becomes a second header of the second TSG.
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

INSTANTIATE_TEST_SUITE_P(Boards, Timeslices,
                         testing::Values("gtx1080ti", "titan-v", "rtx2080ti", "a100", "h200"),
                         name_of_board);

} // namespace
} // namespace core
