// SPDX-License-Identifier: MIT OR GPL-2.0
// Waiting for Host and submitting lists to it, while a driver submits, too, and with registers that
// do not take what is written to them. The tests look at the registers that are written and at the
// errors.
#include "three_tasks.hpp"

extern "C" {
#include "chips/chips.h"
#include "decode/submit.h"
#include "host/await.h"
#include "host/override_list.h"
#include "host/preempt.h"
#include "host/submit.h"
#include "hw/pfifo.h"
#include "hw/runlist.h"
#include "state/override.h"
}

#include <algorithm>
#include <climits>
#include <functional>
#include <memory>

namespace core {
namespace {

constexpr u64 second = 1000000000;

// --- await ---

/// The condition that is waited for, and how often it was checked.
struct Wanted {
    std::function<int()> done;
    int looks = 0;
};

int look(nvdebug_gpu *, const void *what) {
    auto *wanted = static_cast<Wanted *>(const_cast<void *>(what));
    wanted->looks++;
    return wanted->done();
}

class Await : public testing::Test, protected ThreeTasks {
  protected:
    Await() : ThreeTasks("a100") {}

    int wait(const std::function<int()> &done, bool undo = false) {
        wanted = {done};
        began = shim.now_ns;
        return undo ? nvdebug_await_undo(gpu(), look, &wanted)
                    : nvdebug_await(gpu(), look, &wanted);
    }
    [[nodiscard]] u64 waited() const { return shim.now_ns - began; }

    Wanted wanted;
    u64 began = 0;
};

TEST_F(Await, DoesNotWaitIfTheConditionHolds) {
    EXPECT_EQ(wait([] { return 1; }), 0);
    EXPECT_EQ(wanted.looks, 1);
    EXPECT_EQ(waited(), 0U);
}

TEST_F(Await, LooksAgainUntilTheConditionHolds) {
    EXPECT_EQ(wait([this] { return wanted.looks == 3; }), 0);
    EXPECT_EQ(wanted.looks, 3);
    EXPECT_GT(waited(), 0U);
}

TEST_F(Await, EndsWithAnError) {
    EXPECT_EQ(wait([this] { return wanted.looks == 2 ? -EIO : 0; }), -EIO);
    EXPECT_EQ(wanted.looks, 2);
}

TEST_F(Await, EndsAfterASecond) {
    for (const bool undo : {false, true}) {
        EXPECT_EQ(wait([] { return 0; }, undo), -ETIMEDOUT);
        EXPECT_GT(waited(), second);
        EXPECT_LT(waited(), second + second / 1000);
    }
}

/// The sleep took longer than it should have. If the condition holds by then, there is no error.
TEST_F(Await, LooksOnceMoreAfterTheDeadline) {
    EXPECT_EQ(wait([this] {
                  if (wanted.looks == 1)
                      shim.now_ns += 5 * second;
                  return wanted.looks == 2;
              }),
              0);
    EXPECT_EQ(wait([this] {
                  if (wanted.looks == 1)
                      shim.now_ns += 5 * second;
                  return 0;
              }),
              -ETIMEDOUT);
    EXPECT_EQ(wanted.looks, 2);
}

TEST_F(Await, SignalEndsTheWaitButNoUndo) {
    shim.killed = true;
    EXPECT_EQ(wait([] { return 0; }), -EINTR);
    EXPECT_EQ(wait([] { return 1; }), 0);
    EXPECT_EQ(wait([] { return 0; }, true), -ETIMEDOUT);
}

TEST_F(Await, RemovalEndsTheWaitButNoUndo) {
    machine.leaving = true;
    EXPECT_EQ(wait([] { return 0; }), -ENODEV);
    EXPECT_EQ(wanted.looks, 1);
    EXPECT_EQ(wait([] { return 0; }, true), -ETIMEDOUT);
}

// --- submit ---

class SubmitRegisters : public testing::TestWithParam<std::string>, protected ThreeTasks {
  protected:
    SubmitRegisters() : ThreeTasks(GetParam()) {
        loc = expected = where();
        port = gpu()->chip->submit->port(runlist());
        words = gpu()->chip->submit->encode(&loc, runlist()->id, gpu()->chip->submit->ptr, word);
        for (int i = 0; i < words; i++)
            before[i] = machine.peek(reg(i));
        machine.written.clear();
    }
    int submit() {
        return machine.locked(
            [this] { return nvdebug_submit(gpu(), runlist(), &other, &expected); });
    }
    int look() {
        return machine.locked([this] { return nvdebug_submit_locate(gpu(), runlist(), &other); });
    }
    [[nodiscard]] u32 reg(int i) const { return port + 4 * static_cast<u32>(i); }
    /// Returns the register that submits the list.
    [[nodiscard]] u32 last() const { return reg(words - 1); }
    /// Sets `other` to an address 256 MiB further on, which changes the first word.
    void use_another_address() {
        other = loc;
        other.addr += 0x10000000;
        ASSERT_EQ(
            gpu()->chip->submit->encode(&other, runlist()->id, gpu()->chip->submit->ptr, word),
            words);
        ASSERT_NE(word[0], before[0]);
    }

    nvdebug_runlist_location loc{};
    nvdebug_runlist_location expected{};
    nvdebug_runlist_location other{};
    u32 port = 0;
    int words = 0;
    u32 word[NVDEBUG_SUBMIT_WORDS] = {};
    u32 before[NVDEBUG_SUBMIT_WORDS] = {};
};

TEST_P(SubmitRegisters, WritesTheWordsInOrder) {
    other = loc;
    ASSERT_EQ(submit(), 0);
    ASSERT_EQ(machine.written.size(), static_cast<std::size_t>(words));
    for (int i = 0; i < words; i++)
        EXPECT_EQ(machine.written[static_cast<std::size_t>(i)], std::pair(reg(i), word[i]));
    const nvdebug_runlist_location now = where();
    EXPECT_TRUE(nvdebug_runlist_location_same(&now, &loc));
}

TEST_P(SubmitRegisters, AddressThatDoesNotFitIsNotWritten) {
    other = loc;
    other.addr |= 1;
    EXPECT_EQ(submit(), -ERANGE);
    EXPECT_TRUE(machine.written.empty());
}

/// The current list is no longer the one that the caller looked at, so it stays.
TEST_P(SubmitRegisters, AnotherListThanExpectedIsNotReplaced) {
    other = loc;
    for (const auto &differ : std::vector<std::function<void()>>{
             [&] { expected.addr ^= 0x1000; },
             [&] { expected.entries++; },
             [&] { expected.aperture ^= 1; },
         }) {
        expected = loc;
        differ();
        EXPECT_EQ(submit(), -EBUSY);
    }
    EXPECT_TRUE(machine.written.empty());
    EXPECT_TRUE(machine.errors.empty());
}

/// A list that was submitted since, and that Host has not taken yet, is not replaced either. A
/// caller that expects such a list may go on.
TEST_P(SubmitRegisters, ListThatWasJustSubmittedIsNotReplaced) {
    const bool read_back = gpu()->chip->runlist->registers(runlist()) != port;
    const u32 reg = read_back ? NV_PFIFO_ENG_RUNLIST(runlist()->id) : last() + 4;
    const u32 bit = read_back ? NV_PFIFO_ENG_RUNLIST_PENDING : NV_RUNLIST_SUBMIT_INFO_PENDING;
    machine.on_read = [&](u32 offset) {
        return offset == reg ? std::optional(machine.peek(reg) | bit) : std::nullopt;
    };
    other = loc;
    EXPECT_EQ(submit(), -EBUSY);
    EXPECT_TRUE(machine.written.empty());
    expected.pending = true;
    EXPECT_EQ(submit(), 0);
}

/// No interrupt comes between the check and the last write, because up to Volta the last word
/// submits the address that is in the port then.
TEST_P(SubmitRegisters, IsDoneWithInterruptsOff) {
    other = loc;
    int reads = 0;
    machine.on_write = [](u32, u32) {
        EXPECT_TRUE(shim.irqs_off);
        return false;
    };
    machine.on_read = [&](u32) {
        EXPECT_TRUE(shim.irqs_off);
        return reads++, std::nullopt;
    };
    ASSERT_EQ(submit(), 0);
    EXPECT_GT(reads, 0);
    EXPECT_FALSE(shim.irqs_off);
    expected.entries++;
    EXPECT_EQ(submit(), -EBUSY);
    EXPECT_FALSE(shim.irqs_off);
}

TEST_P(SubmitRegisters, RegisterThatCannotBeReadPreventsAllWrites) {
    other = loc;
    int error = 0;
    // The first words may look like an error, because they are a part of an address. The last word
    // may not.
    machine.on_read = [&](u32 offset) {
        return offset == last() ? std::optional(0xbadf1100) : std::nullopt;
    };
    error = submit();
    EXPECT_EQ(error, -EIO);
    EXPECT_TRUE(machine.written.empty());
}

/// The write of one word is lost. The other words are written back, because an address that was not
/// submitted would look like the current one.
TEST_P(SubmitRegisters, LostAddressIsPutBackAndNotSubmitted) {
    use_another_address();
    bool lose = true;
    machine.on_write = [&](u32 offset, u32) {
        return offset == reg(0) && std::exchange(lose, false);
    };
    EXPECT_EQ(submit(), -EIO);
    EXPECT_EQ(machine.writes(last()), 0);
    for (int i = 0; i < words - 1; i++)
        EXPECT_EQ(machine.peek(reg(i)), before[i]);
    EXPECT_TRUE(machine.errors.empty());
}

TEST_P(SubmitRegisters, AddressThatReadsAsAnErrorIsPutBackAndNotSubmitted) {
    use_another_address();
    machine.on_read = [&](u32 offset) {
        return offset == reg(0) && machine.writes(reg(0)) == 1 ? std::optional(0xbadf1100)
                                                               : std::nullopt;
    };
    EXPECT_EQ(submit(), -EIO);
    EXPECT_EQ(machine.writes(last()), 0);
    EXPECT_EQ(machine.peek(reg(0)), before[0]);
    EXPECT_TRUE(machine.errors.empty());
}

/// Nothing is submitted on this GPU any more, and one line of the log is about that.
TEST_P(SubmitRegisters, AddressThatCannotBePutBackGivesUpTheControls) {
    use_another_address();
    int seen = 0;
    machine.on_write = [&](u32 offset, u32) { return offset == reg(0) && seen++ > 0; };
    machine.on_read = [&](u32 offset) {
        return offset == reg(0) && machine.writes(reg(0)) == 1 ? std::optional(0xbadf1100)
                                                               : std::nullopt;
    };
    EXPECT_EQ(submit(), -EIO);
    EXPECT_EQ(machine.writes(last()), 0);
    EXPECT_EQ(machine.writes(reg(0)), 2);
    ASSERT_EQ(machine.errors.size(), 1U);
    EXPECT_EQ(machine.errors[0].find("runlist 0: its registers may still have the address"), 0U);
    EXPECT_TRUE(gpu()->uncontrollable);
    machine.on_read = nullptr;
    machine.on_write = nullptr;
    machine.written.clear();
    for (const auto settle : {nvdebug_submit_settle, nvdebug_submit_settle_undo})
        EXPECT_EQ(machine.locked([&] { return settle(gpu(), runlist(), &other); }),
                  -ENOTRECOVERABLE);
    EXPECT_EQ(look(), -ENOTRECOVERABLE);
    EXPECT_EQ(machine.locked([this] { return nvdebug_submit_again(gpu(), runlist()); }),
              -ENOTRECOVERABLE);
    machine.locked([this] {
        nvdebug_submit_give_up(gpu(), runlist(), -EIO);
        return 0;
    });
    EXPECT_TRUE(machine.written.empty());
    EXPECT_EQ(machine.errors.size(), 1U);
}

/// A driver that has written its own address is about to submit it.
TEST_P(SubmitRegisters, AddressOfADriverIsLeftAlone) {
    use_another_address();
    const u32 drivers = before[0] ^ 0x00400000;
    machine.on_write = [&](u32 offset, u32) {
        if (offset == reg(words - 2))
            machine.poke(reg(0), drivers);
        return offset == reg(0) && words == 2;
    };
    EXPECT_EQ(submit(), -EBUSY);
    EXPECT_EQ(machine.writes(last()), 0);
    EXPECT_EQ(machine.peek(reg(0)), drivers);
    EXPECT_TRUE(machine.errors.empty());
}

/// There is no error if a driver writes its address before the old one is put back.
TEST_P(SubmitRegisters, DriverMayWriteWhileTheAddressIsPutBack) {
    use_another_address();
    const u32 drivers = before[0] ^ 0x00400000;
    int seen = 0;
    machine.on_write = [&](u32 offset, u32) {
        if (offset != reg(0))
            return false;
        if (++seen == 2)
            machine.poke(reg(0), drivers);
        return true;
    };
    EXPECT_EQ(submit(), -EIO);
    EXPECT_EQ(machine.writes(last()), 0);
    EXPECT_TRUE(machine.errors.empty());
}

/// Two looks that agree are enough. After four looks without agreement it is an error.
TEST_P(SubmitRegisters, LookIsRepeatedUntilTwoAgree) {
    const u32 reg = gpu()->chip->runlist->registers(runlist());
    int reads = 0, changes = 0;
    const u32 address = machine.peek(reg);
    machine.on_read = [&](u32 offset) -> std::optional<u32> {
        if (offset != reg)
            return std::nullopt;
        return ++reads <= changes ? address ^ (0x1000U * static_cast<u32>(reads)) : address;
    };
    const std::vector<std::pair<int, int>> expected{{0, 2}, {1, 3}, {2, 4}, {3, 4}};
    for (const auto &[others, looks] : expected) {
        reads = 0;
        changes = others;
        EXPECT_EQ(look(), others < 3 ? 0 : -EBUSY) << others;
        EXPECT_EQ(reads, looks) << others;
        if (others < 3) {
            EXPECT_TRUE(nvdebug_runlist_location_same(&other, &loc)) << others;
        }
    }
}

TEST_P(SubmitRegisters, ErrorEndsTheLook) {
    int reads = 0, wrong = 0;
    machine.on_read = [&](u32) {
        return ++reads > wrong ? std::optional(0xbadf1100) : std::nullopt;
    };
    EXPECT_EQ(look(), -EIO);
    machine.on_read = nullptr;
    ASSERT_EQ(look(), 0);
    reads = 0;
    machine.on_read = [&](u32) { return reads++, std::nullopt; };
    ASSERT_EQ(look(), 0);
    wrong = reads / 2;
    reads = 0;
    machine.on_read = [&](u32) {
        return ++reads > wrong ? std::optional(0xbadf1100) : std::nullopt;
    };
    EXPECT_EQ(look(), -EIO);
}

/// As long as Host has not taken the list, it is waited for, a second at most.
TEST_P(SubmitRegisters, SettlingWaitsUntilHostHasTheList) {
    const bool read_back = gpu()->chip->runlist->registers(runlist()) != port;
    const u32 reg = read_back ? NV_PFIFO_ENG_RUNLIST(runlist()->id) : last() + 4;
    const u32 bit = read_back ? NV_PFIFO_ENG_RUNLIST_PENDING : NV_RUNLIST_SUBMIT_INFO_PENDING;
    int reads = 0, pending = 3;
    machine.on_read = [&](u32 offset) -> std::optional<u32> {
        if (offset != reg)
            return std::nullopt;
        return machine.peek(reg) | (reads++ < pending ? bit : 0);
    };
    for (const auto settle : {nvdebug_submit_settle, nvdebug_submit_settle_undo}) {
        reads = 0;
        pending = 3;
        ASSERT_EQ(machine.locked([&] { return settle(gpu(), runlist(), &other); }), 0);
        EXPECT_FALSE(other.pending);
        EXPECT_TRUE(nvdebug_runlist_location_same(&other, &loc));
        EXPECT_GT(reads, 3);
        pending = INT_MAX;
        EXPECT_EQ(machine.locked([&] { return settle(gpu(), runlist(), &other); }), -ETIMEDOUT);
    }
}

TEST_P(SubmitRegisters, SubmittingAgainKeepsTheList) {
    EXPECT_EQ(machine.locked([this] { return nvdebug_submit_again(gpu(), runlist()); }), 0);
    EXPECT_EQ(machine.written.size(), static_cast<std::size_t>(words));
    const nvdebug_runlist_location now = where();
    EXPECT_TRUE(nvdebug_runlist_location_same(&now, &loc));
    machine.written.clear();
    // The last register of the submit cannot be read, and each write is lost.
    machine.on_write = [](u32, u32) { return true; };
    machine.on_read = [this](u32 offset) {
        return offset == last() ? std::optional(0xbadf1100) : std::nullopt;
    };
    EXPECT_EQ(machine.locked([this] { return nvdebug_submit_again(gpu(), runlist()); }), -EIO);
}

INSTANTIATE_TEST_SUITE_P(Boards, SubmitRegisters,
                         testing::Values("gtx1080ti", "titan-v", "rtx2080ti", "a100", "h200"),
                         name_of_board);

} // namespace
} // namespace core
