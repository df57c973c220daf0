// SPDX-License-Identifier: MIT OR GPL-2.0
// Override lists: which list is current after each way to end one. No memory is freed that Host may
// still read, and none is kept that Host does not read.
#include "three_tasks.hpp"

extern "C" {
#include "chips/chips.h"
#include "decode/submit.h"
#include "host/override_list.h"
#include "host/submit.h"
#include "hw/runlist.h"
#include "state/override.h"
}
#include <linux/err.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace core {
namespace {

class OverrideList : public testing::TestWithParam<std::string>, protected ThreeTasks {
  protected:
    OverrideList() : ThreeTasks(GetParam()), drivers(where()), in_use(shim.in_use) {}

    [[nodiscard]] bool is_current(const nvdebug_runlist_location &loc) {
        const nvdebug_runlist_location now = where();
        return nvdebug_runlist_location_same(&now, &loc);
    }
    /// Returns true if the list is no override list and is as long as the driver's.
    [[nodiscard]] bool is_a_drivers(const nvdebug_runlist_location &loc) {
        return machine.locked([&] { return nvdebug_override_at(gpu(), runlist(), &loc); }) ==
                   nullptr &&
               loc.entries == drivers.entries;
    }
    /// Returns the register that submits the list when it is written: the last one.
    [[nodiscard]] u32 submits() {
        u32 word[NVDEBUG_SUBMIT_WORDS];
        const auto *ops = gpu()->chip->submit;
        const int words = ops->encode(&drivers, runlist()->id, ops->ptr, word);
        return ops->port(runlist()) + 4 * static_cast<u32>(words - 1);
    }
    [[nodiscard]] bool shows_what_is_submitted() {
        return gpu()->chip->submit->port(runlist()) == gpu()->chip->runlist->registers(runlist());
    }

    /// Makes an override list of the first entries of the driver's list.
    nvdebug_override *make(u32 entries = 3) {
        const std::size_t count = entries * gpu()->chip->runlist->entry_words;
        std::vector<u32> words;
        for (std::size_t i = 0; i < count; i++)
            words.push_back(*machine.memory_read(drivers.aperture, drivers.addr + 4 * i));
        EXPECT_EQ(machine.begin(false), 0);
        gpu()->lock.held = true;
        nvdebug_override *const list =
            nvdebug_override_make(gpu(), runlist(), words.data(), entries);
        gpu()->lock.held = false;
        machine.end();
        return list;
    }
    static int settles(nvdebug_gpu *, const void *what) { return *static_cast<const int *>(what); }
    int install(nvdebug_override *list, int settled = 1) {
        const nvdebug_runlist_location now = where();
        machine.written.clear();
        return machine.locked(
            [&] { return nvdebug_override_install(gpu(), list, &now, settles, &settled); });
    }
    int undo(u64 number) {
        return machine.locked([&] { return nvdebug_override_undo(gpu(), number); });
    }
    int resubmit() {
        return machine.locked([&] { return nvdebug_override_resubmit(gpu(), runlist()); });
    }
    void retire(int error = 0) {
        EXPECT_EQ(machine.begin(true), 0);
        nvdebug_overrides_retire(gpu(), error);
        machine.end();
    }
    [[nodiscard]] bool logged(const std::string &text) const {
        return std::ranges::any_of(machine.errors, [&](const std::string &line) {
            return line.find(text) != std::string::npos;
        });
    }
    /// After a write to an address register, by default the first one, `times` reads of it give an
    /// error word.
    void read_back_wrong(int times, std::optional<u32> other = std::nullopt) {
        const u32 reg = other.value_or(gpu()->chip->submit->port(runlist()));
        machine.written.clear();
        machine.on_read = [this, reg, times](u32 offset) mutable {
            const bool wrong = offset == reg && machine.writes(reg) && times-- > 0;
            return wrong ? std::optional(0xbadf1100) : std::nullopt;
        };
    }
    /// Checks that nothing is submitted any more, and that the memory of these lists is never used
    /// again.
    void expect_given_up(u64 number, std::span<const nvdebug_runlist_location> kept) {
        machine.on_read = nullptr;
        machine.on_write = nullptr;
        EXPECT_TRUE(gpu()->uncontrollable);
        EXPECT_EQ(std::ranges::count_if(machine.errors,
                                        [](const std::string &line) {
                                            return line.find("all controls of this GPU fail") !=
                                                   std::string::npos;
                                        }),
                  1);
        machine.written.clear();
        EXPECT_EQ(resubmit(), -ENOTRECOVERABLE);
        EXPECT_EQ(undo(number), -ENOTRECOVERABLE);
        EXPECT_EQ(lists(), kept.size());
        // The module retires all lists when it is unloaded.
        retire();
        EXPECT_TRUE(machine.written.empty());
        EXPECT_TRUE(logged("are left to runlist 0"));
        EXPECT_TRUE(list_empty(&gpu()->overrides));
        for (const nvdebug_runlist_location &loc : kept)
            EXPECT_TRUE(machine.memory_read(loc.aperture, loc.addr).has_value());
    }
    /// Returns the number of override lists. Each has two allocations, for itself and for its
    /// memory.
    [[nodiscard]] u64 lists() const { return (shim.in_use - in_use) / 2; }

    nvdebug_runlist_location drivers{};
    u64 in_use = 0;
};

TEST_P(OverrideList, IsCurrentUntilItIsUndone) {
    nvdebug_override *const list = make();
    ASSERT_FALSE(IS_ERR(list));
    const nvdebug_runlist_location own = list->own;
    EXPECT_EQ(own.entries, 3U);
    EXPECT_EQ(list->memory->bytes, 4 * 3 * gpu()->chip->runlist->entry_words);
    const u64 number = list->number;
    ASSERT_EQ(install(list), 0);
    EXPECT_TRUE(is_current(own));
    EXPECT_EQ(lists(), 1U);
    EXPECT_EQ(undo(number + 1), 0);
    EXPECT_TRUE(is_current(own));
    EXPECT_EQ(undo(number), 1);
    EXPECT_TRUE(is_current(drivers));
    EXPECT_EQ(lists(), 0U);
    EXPECT_EQ(undo(number), 0);
}

TEST_P(OverrideList, HasANumberOfItsOwn) {
    nvdebug_override *const first = make();
    const u64 number = first->number;
    ASSERT_EQ(install(first), 0);
    nvdebug_override *const second = make();
    EXPECT_EQ(second->number, number + 1);
    const nvdebug_runlist_location own = second->own;
    ASSERT_EQ(install(second), 0);
    // Host reads the first list no longer.
    EXPECT_EQ(lists(), 1U);
    EXPECT_EQ(undo(number), 0);
    EXPECT_TRUE(is_current(own));
    EXPECT_EQ(undo(number + 1), 1);
    EXPECT_TRUE(is_current(drivers));
}

/// A resubmit makes the driver's list current, also behind two override lists.
TEST_P(OverrideList, GivesWayToTheDriversList) {
    ASSERT_EQ(install(make(3)), 0);
    ASSERT_EQ(install(make(2)), 0);
    EXPECT_EQ(resubmit(), 0);
    EXPECT_TRUE(is_current(drivers));
    EXPECT_EQ(lists(), 0U);
    EXPECT_EQ(resubmit(), 0);
    EXPECT_TRUE(is_current(drivers));
}

TEST_P(OverrideList, FailsWithoutMemory) {
    for (u64 n = 1; n <= 2; n++) {
        shim.asked = 0;
        shim.refuse = n;
        nvdebug_override *const list = make();
        shim.refuse = 0;
        ASSERT_TRUE(IS_ERR(list));
        EXPECT_EQ(PTR_ERR(list), -ENOMEM);
        EXPECT_EQ(shim.in_use, in_use);
    }
}

TEST_P(OverrideList, IsFreedIfItIsNotSubmitted) {
    nvdebug_override *const list = make();
    machine.on_write = [](u32, u32) { return true; };
    EXPECT_EQ(install(list), -EIO);
    machine.on_write = nullptr;
    EXPECT_EQ(lists(), 0U);
    EXPECT_TRUE(is_current(drivers));
}

TEST_P(OverrideList, IsReplacedByThePreviousListIfItDoesNotSettle) {
    nvdebug_override *const before = make(3);
    const nvdebug_runlist_location own = before->own;
    ASSERT_EQ(install(before), 0);
    EXPECT_EQ(install(make(2), -EIO), -EIO);
    EXPECT_TRUE(is_current(own));
    EXPECT_EQ(lists(), 1U);
    EXPECT_EQ(install(make(2), 0), -ETIMEDOUT);
    EXPECT_TRUE(is_current(own));
    EXPECT_EQ(lists(), 1U);
    retire();
    EXPECT_EQ(install(make(2), -EIO), -EIO);
    EXPECT_TRUE(is_current(drivers));
    EXPECT_EQ(lists(), 0U);
    EXPECT_TRUE(machine.errors.empty());
}

/// A signal ends the wait for the switch, and the previous list is current again.
TEST_P(OverrideList, SignalRestoresThePreviousList) {
    nvdebug_override *const list = make();
    const nvdebug_runlist_location now = where();
    const auto kill = [](nvdebug_gpu *, const void *) {
        shim.killed = true;
        return 0;
    };
    EXPECT_EQ(
        machine.locked([&] { return nvdebug_override_install(gpu(), list, &now, kill, nullptr); }),
        -EINTR);
    shim.killed = false;
    EXPECT_TRUE(is_current(drivers));
    EXPECT_EQ(lists(), 0U);
}

/// The driver submits a list of its own during the install, and that list stays.
TEST_P(OverrideList, DriversListIsKept) {
    nvdebug_override *const list = make();
    const u32 last = submits();
    machine.on_write = [&](u32 offset, u32) {
        if (offset == last)
            machine.model().resubmit(runlist()->id);
        return offset == last;
    };
    EXPECT_EQ(install(list), -EBUSY);
    EXPECT_EQ(machine.writes(last), 1);
    machine.on_write = nullptr;
    EXPECT_TRUE(is_a_drivers(where()));
    EXPECT_EQ(lists(), 0U);
}

/// One error word changes nothing, because the previous address is restored.
TEST_P(OverrideList, IsFreedAfterOneErrorWord) {
    nvdebug_override *const list = make();
    read_back_wrong(1);
    EXPECT_EQ(install(list), -EIO);
    EXPECT_FALSE(gpu()->uncontrollable);
    EXPECT_TRUE(machine.errors.empty());
    EXPECT_EQ(machine.writes(submits()), 0);
    EXPECT_EQ(lists(), 0U);
    EXPECT_TRUE(is_current(drivers));
    machine.on_read = nullptr;

    nvdebug_override *const next = make();
    const u64 number = next->number;
    const nvdebug_runlist_location own = next->own;
    ASSERT_EQ(install(next), 0);
    EXPECT_TRUE(is_current(own));
    read_back_wrong(1);
    EXPECT_EQ(undo(number), -EIO);
    EXPECT_FALSE(gpu()->uncontrollable);
    EXPECT_TRUE(is_current(own));
    EXPECT_EQ(undo(number), 1);
    EXPECT_TRUE(is_current(drivers));
    EXPECT_EQ(lists(), 0U);
}

/// With two error words it is unknown which address is in the registers.
TEST_P(OverrideList, IsKeptAfterTwoErrorWords) {
    nvdebug_override *const before = make(3);
    const u64 number = before->number;
    ASSERT_EQ(install(before), 0);
    nvdebug_override *const list = make(2);
    const nvdebug_runlist_location kept[] = {before->own, list->own};
    read_back_wrong(2);
    EXPECT_EQ(install(list), -EIO);
    EXPECT_EQ(machine.writes(submits()), 0);
    expect_given_up(number, kept);
}

TEST_P(OverrideList, IsKeptAfterTwoErrorWordsOfAnUndo) {
    nvdebug_override *const list = make();
    const u64 number = list->number;
    const nvdebug_runlist_location kept[] = {list->own};
    ASSERT_EQ(install(list), 0);
    read_back_wrong(2);
    EXPECT_EQ(undo(number), -EIO);
    EXPECT_EQ(machine.writes(submits()), 0);
    expect_given_up(number, kept);
}

/// All words are read back each time, so an error word in an upper register counts, too.
TEST_P(OverrideList, IsKeptAfterErrorWordsInEachAddressRegister) {
    const u32 port = gpu()->chip->submit->port(runlist());
    for (u32 reg = port; reg < submits(); reg += 4) {
        gpu()->uncontrollable = false;
        machine.errors.clear();
        nvdebug_override *const list = make();
        const nvdebug_runlist_location kept[] = {list->own};
        read_back_wrong(2, reg);
        EXPECT_EQ(install(list), -EIO);
        expect_given_up(list->number, kept);
    }
}

/// The registers show an address with the length of another list, which was never submitted. Only
/// chips that show the words of a submit can show this.
TEST_P(OverrideList, IsKeptIfItsLengthIsMissing) {
    if (!shows_what_is_submitted())
        return;
    nvdebug_override *const list = make();
    const u64 number = list->number;
    const nvdebug_runlist_location kept[] = {list->own};
    machine.on_write = [last = submits()](u32 offset, u32) { return offset == last; };
    EXPECT_EQ(install(list), -EIO);
    EXPECT_EQ(machine.writes(submits()), 1);
    expect_given_up(number, kept);
}

/// Host reads the override list until the driver's list has been submitted.
TEST_P(OverrideList, IsKeptIfTheDriversLengthIsMissing) {
    if (!shows_what_is_submitted())
        return;
    for (const bool by_request : {true, false}) {
        nvdebug_override *const list = make();
        const u64 number = list->number;
        const nvdebug_runlist_location kept[] = {list->own};
        ASSERT_EQ(install(list), 0);
        machine.on_write = [last = submits()](u32 offset, u32) { return offset == last; };
        EXPECT_EQ(by_request ? resubmit() : undo(number), -EIO);
        expect_given_up(number, kept);
        machine.restart("three-tasks");
        gpu()->uncontrollable = false;
        machine.errors.clear();
        drivers = where();
    }
}

/// A GPU that is off or gone reads no list, whatever its registers had.
TEST_P(OverrideList, IsFreedWithAGpuThatWasGivenUpAndIsGone) {
    read_back_wrong(2);
    EXPECT_EQ(install(make()), -EIO);
    EXPECT_TRUE(gpu()->uncontrollable);
    EXPECT_EQ(lists(), 1U);
    retire(-ENODEV);
    EXPECT_EQ(lists(), 0U);
    EXPECT_EQ(shim.in_use, in_use);
}

/// The undo fails, too. The log has a line about it, and the memory stays, because Host may read
/// it.
TEST_P(OverrideList, StaysWhenUndoFails) {
    nvdebug_override *const list = make();
    const u64 number = list->number;
    const nvdebug_runlist_location own = list->own;
    ASSERT_EQ(install(list), 0);
    machine.on_write = [](u32, u32) { return true; };
    EXPECT_EQ(undo(number), -EIO);
    EXPECT_TRUE(logged("failed to restore the list"));
    EXPECT_EQ(lists(), 1U);
    EXPECT_EQ(resubmit(), -EIO);
    machine.on_write = nullptr;
    EXPECT_TRUE(is_current(own));
    EXPECT_EQ(undo(number), 1);
    EXPECT_TRUE(is_current(drivers));
    EXPECT_EQ(lists(), 0U);
}

/// It is unknown which list is current, so the memory stays.
TEST_P(OverrideList, ResubmitThatCannotBeCheckedIsAnError) {
    nvdebug_override *const list = make();
    ASSERT_EQ(install(list), 0);
    machine.written.clear();
    machine.on_read = [&](u32) {
        return machine.writes(submits()) ? std::optional(0xbadf1100) : std::nullopt;
    };
    EXPECT_EQ(resubmit(), -EIO);
    machine.on_read = nullptr;
    EXPECT_EQ(lists(), 1U);
    retire();
    EXPECT_EQ(lists(), 0U);
}

/// The driver has submitted its own list since, even one with as many entries as the override list.
/// Nothing is written, and the memory is freed.
TEST_P(OverrideList, IsFreedIfItIsNoLongerCurrent) {
    for (const u32 entries : {3U, drivers.entries}) {
        nvdebug_override *const list = make(entries);
        const u64 number = list->number;
        ASSERT_EQ(install(list), 0);
        machine.model().resubmit(runlist()->id);
        EXPECT_TRUE(is_a_drivers(where()));
        machine.written.clear();
        EXPECT_EQ(undo(number), 0);
        EXPECT_TRUE(machine.written.empty());
        EXPECT_EQ(lists(), 0U);
    }
}

/// A driver writes to the same registers during the undo, which is tried three times at most.
TEST_P(OverrideList, IsRestoredAgainstADriver) {
    const u32 port = gpu()->chip->submit->port(runlist());
    for (const int times : {1, 2, 3, 4}) {
        machine.errors.clear();
        nvdebug_override *const list = make();
        const u64 number = list->number;
        ASSERT_EQ(install(list), 0);
        const u32 old = machine.peek(port);
        int meddled = 0;
        machine.on_write = [&](u32 offset, u32) {
            if (offset != port || meddled >= times)
                return false;
            // This is another runlist's address, which is never submitted: neither the old nor the
            // new address.
            meddled++;
            machine.poke(port, shows_what_is_submitted()
                                   ? old
                                   : old ^ (0x00100000 * static_cast<u32>(meddled)));
            return true;
        };
        const int ret = undo(number);
        machine.on_write = nullptr;
        if (shows_what_is_submitted()) {
            // The write looks lost.
            EXPECT_EQ(ret, -EIO) << times;
            EXPECT_EQ(meddled, std::min(times, 2)) << times;
            EXPECT_TRUE(logged("failed to restore")) << times;
        } else {
            EXPECT_EQ(ret, times < 3 ? 1 : -EBUSY) << times;
            EXPECT_EQ(meddled, std::min(times, 3)) << times;
            EXPECT_EQ(machine.errors.empty(), times < 3) << times;
        }
        retire();
        EXPECT_TRUE(is_current(drivers)) << times;
        EXPECT_EQ(lists(), 0U) << times;
    }
}

/// A GPU that is gone reads no list.
TEST_P(OverrideList, IsFreedWithAGpuThatIsGone) {
    nvdebug_override *const list = make();
    const u64 number = list->number;
    ASSERT_EQ(install(list), 0);
    machine.on_read = [](u32) { return std::optional(~0U); };
    EXPECT_EQ(undo(number), -ENODEV);
    EXPECT_EQ(lists(), 0U);
    machine.on_read = nullptr;
}

TEST_P(OverrideList, IsFreedOnceIfTheGpuGoesDuringTheUndo) {
    nvdebug_override *const list = make();
    const u64 number = list->number;
    ASSERT_EQ(install(list), 0);
    bool gone = false;
    machine.on_write = [&](u32, u32) { return gone = true; };
    machine.on_read = [&](u32) { return gone ? std::optional(~0U) : std::nullopt; };
    EXPECT_EQ(undo(number), -ENODEV);
    EXPECT_EQ(lists(), 0U);
    machine.on_read = nullptr;
    machine.on_write = nullptr;
}

TEST_P(OverrideList, RetiresWithTheGpu) {
    ASSERT_EQ(install(make()), 0);
    retire();
    EXPECT_TRUE(is_current(drivers));
    EXPECT_EQ(lists(), 0U);
    EXPECT_TRUE(machine.errors.empty());
}

TEST_P(OverrideList, IsFreedWithoutAWriteWhileTheGpuSleeps) {
    nvdebug_override *const list = make();
    const nvdebug_runlist_location own = list->own;
    ASSERT_EQ(install(list), 0);
    machine.written.clear();
    retire(-ENODEV);
    EXPECT_TRUE(machine.written.empty());
    EXPECT_EQ(lists(), 0U);
    EXPECT_TRUE(is_current(own));
}

/// The GPU is on, but may not be accessed. Host may read the list, so it is neither replaced nor
/// freed.
TEST_P(OverrideList, KeepsItsMemoryIfTheGpuCannotBeAccessed) {
    nvdebug_override *const list = make();
    const nvdebug_runlist_location own = list->own;
    const auto first = [&] { return machine.Model::memory_read(own.aperture, own.addr); };
    ASSERT_EQ(install(list), 0);
    const auto word = first();
    machine.written.clear();
    retire(-EIO);
    EXPECT_TRUE(machine.written.empty());
    EXPECT_TRUE(is_current(own));
    EXPECT_EQ(first(), word);
    EXPECT_TRUE(logged("are left to runlist 0"));
}

/// Host may go on reading a list that could not be replaced, so its memory is never used for
/// anything else.
TEST_P(OverrideList, LeavesItsMemoryIfItCannotRetire) {
    nvdebug_override *const list = make();
    const nvdebug_runlist_location own = list->own;
    ASSERT_EQ(install(list), 0);
    machine.on_write = [](u32, u32) { return true; };
    retire();
    machine.on_write = nullptr;
    EXPECT_TRUE(logged("bytes of memory are left to runlist"));
    EXPECT_EQ(lists(), 0U);
    EXPECT_TRUE(list_empty(&gpu()->overrides));
    EXPECT_TRUE(machine.memory_read(own.aperture, own.addr).has_value());
}

TEST_P(OverrideList, FreesItsMemoryWhenItRetires) {
    nvdebug_override *const list = make();
    const nvdebug_runlist_location own = list->own;
    ASSERT_EQ(install(list), 0);
    retire();
    EXPECT_FALSE(machine.memory_read(own.aperture, own.addr).has_value());
}

TEST_P(OverrideList, LosesNoMemoryWithAGpuThatIsGone) {
    ASSERT_EQ(install(make()), 0);
    machine.on_read = [](u32) { return std::optional(~0U); };
    retire();
    machine.on_read = nullptr;
    EXPECT_EQ(lists(), 0U);
    EXPECT_FALSE(logged("bytes of memory"));
}

INSTANTIATE_TEST_SUITE_P(Boards, OverrideList,
                         testing::Values("gtx1080ti", "titan-v", "rtx2080ti", "a100", "h200"),
                         name_of_board);

} // namespace
} // namespace core
