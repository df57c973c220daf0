// SPDX-License-Identifier: MIT OR GPL-2.0
// The scheduling gate and preemption, while others write the registers, too, or while the registers
// ignore writes. The tests look at the registers that are written and at the errors.
#include "three_tasks.hpp"

extern "C" {
#include "chips/chips.h"
#include "host/preempt.h"
#include "hw/runlist.h"
}

#include <algorithm>

namespace core {
namespace {

constexpr u64 second = 1000000000;

// --- the gate ---

class GateRegister : public testing::TestWithParam<std::string>, protected ThreeTasks {
  protected:
    GateRegister() : ThreeTasks(GetParam()) {
        reg = runlist()->base + gpu()->chip->preempt->gate;
        bit = gpu()->chip->preempt->shared ? 1U << runlist()->id : NV_RUNLIST_SCHED_DISABLE_RUNLIST;
        EXPECT_EQ(machine.peek(reg), 0U);
    }
    int set(bool open) {
        return machine.locked([&] { return nvdebug_gate_set(gpu(), runlist(), open, &was); });
    }
    [[nodiscard]] bool shared() { return gpu()->chip->preempt->shared; }

    u32 reg = 0;
    u32 bit = 0;
    bool was = false;
};

TEST_P(GateRegister, OpensAndCloses) {
    ASSERT_EQ(set(false), 0);
    EXPECT_TRUE(was);
    EXPECT_EQ(machine.peek(reg), bit);
    ASSERT_EQ(set(false), 0);
    EXPECT_FALSE(was);
    bool open = true;
    EXPECT_EQ(machine.locked([&] { return nvdebug_gate_read(gpu(), runlist(), &open); }), 0);
    EXPECT_FALSE(open);
    ASSERT_EQ(set(true), 0);
    EXPECT_FALSE(was);
    EXPECT_EQ(machine.peek(reg), 0U);
    EXPECT_EQ(machine.locked([&] { return nvdebug_gate_read(gpu(), runlist(), &open); }), 0);
    EXPECT_TRUE(open);
    EXPECT_EQ(machine.writes(reg), 3);
    EXPECT_TRUE(machine.errors.empty());
}

TEST_P(GateRegister, KeepsOtherBits) {
    if (!shared())
        return;
    machine.poke(reg, 0x6 & ~bit);
    ASSERT_EQ(set(false), 0);
    EXPECT_EQ(machine.peek(reg), (0x6 & ~bit) | bit);
    ASSERT_EQ(set(true), 0);
    EXPECT_EQ(machine.peek(reg), 0x6 & ~bit);
}

/// The register ignores the write, which is tried once.
TEST_P(GateRegister, FailsIfItDoesNotMove) {
    machine.on_write = [this](u32 offset, u32) { return offset == reg; };
    EXPECT_EQ(set(false), -EIO);
    EXPECT_TRUE(was);
    EXPECT_EQ(machine.writes(reg), 1);
    EXPECT_TRUE(machine.errors.empty());
}

/// Others write the register with the gates of all runlists, too, and their writes undo the gate's.
TEST_P(GateRegister, IsTriedAgainIfOthersWrite) {
    if (!shared())
        return;
    const u32 others = bit == 4 ? 8 : 4;
    for (const int times : {1, 2, 3}) {
        machine.poke(reg, 0);
        machine.written.clear();
        machine.errors.clear();
        was = false;
        machine.on_write = [&](u32 offset, u32) {
            if (offset != reg || machine.writes(reg) > times)
                return false;
            // The bit toggles, so each write is a change.
            machine.poke(reg, machine.peek(reg) ^ others);
            return true;
        };
        EXPECT_EQ(set(false), times < 3 ? 0 : -EIO) << times;
        EXPECT_EQ(machine.writes(reg), std::min(times + 1, 3)) << times;
        EXPECT_EQ(machine.errors.size(), static_cast<std::size_t>(times)) << times;
        EXPECT_TRUE(was) << times;
        machine.on_write = nullptr;
    }
}

/// The previous state of the gate is the state before the first attempt.
TEST_P(GateRegister, ReturnsTheStateBeforeTheFirstAttempt) {
    if (!shared())
        return;
    const u32 others = bit == 4 ? 8 : 4;
    machine.on_write = [&](u32 offset, u32) {
        if (offset != reg || machine.writes(reg) > 1)
            return false;
        machine.poke(reg, others | bit); // a write by others, which closes the gate, too
        return true;
    };
    EXPECT_EQ(set(true), 0);
    EXPECT_TRUE(was);
    EXPECT_EQ(machine.peek(reg) & bit, 0U);
}

/// Only a register with no other gate can be written without having been read.
TEST_P(GateRegister, OpensUnreadIfItHasNoOtherGate) {
    machine.poke(reg, bit);
    int reads = 0;
    machine.on_read = [&](u32 offset) {
        return offset == reg && reads++ == 0 ? std::optional(0xbadf1100) : std::nullopt;
    };
    EXPECT_EQ(set(true), shared() ? -EIO : 0);
    EXPECT_EQ(machine.peek(reg), shared() ? bit : 0);
    reads = 0;
    machine.written.clear();
    EXPECT_EQ(set(false), -EIO);
    EXPECT_EQ(machine.writes(reg), 0);
    reads = -1; // the read that checks the write
    EXPECT_EQ(set(false), -EIO);
}

TEST_P(GateRegister, FailsIfItCannotBeRead) {
    machine.on_read = [&](u32 offset) {
        return offset == reg ? std::optional(0xbadf1100) : std::nullopt;
    };
    bool open = true;
    EXPECT_EQ(machine.locked([&] { return nvdebug_gate_read(gpu(), runlist(), &open); }), -EIO);
    EXPECT_TRUE(open);
}

INSTANTIATE_TEST_SUITE_P(Boards, GateRegister,
                         testing::Values("gtx1080ti", "titan-v", "rtx2080ti", "a100", "h200"),
                         name_of_board);

// --- preempt ---

class PreemptRegisters : public testing::TestWithParam<std::string>, protected ThreeTasks {
  protected:
    PreemptRegisters() : ThreeTasks(GetParam()) {
        ops = gpu()->chip->preempt;
        tsg = runlist()->base + ops->tsg;
        list = runlist()->base + ops->runlist;
        gate = runlist()->base + ops->gate;
    }
    int preempt(u32 id = 0) {
        machine.written.clear();
        return machine.locked([&] { return nvdebug_preempt_tsg(gpu(), runlist(), id); });
    }
    int preempt_list() {
        machine.written.clear();
        return machine.locked([&] { return nvdebug_preempt_runlist(gpu(), runlist()); });
    }

    const nvdebug_preempt_ops *ops = nullptr;
    u32 tsg = 0, list = 0, gate = 0;
    /// Preemption closes the gate, except on Kepler to Pascal.
    bool watched = GetParam() != "gtx1080ti";
};

TEST_P(PreemptRegisters, TsgIsPreemptedWithTheGateClosed) {
    ASSERT_EQ(preempt(2), 0);
    EXPECT_EQ(machine.writes(tsg), 1);
    EXPECT_EQ(machine.writes(gate), watched ? 2 : 0);
    EXPECT_EQ(machine.written.size(), watched ? 3U : 1U);
    EXPECT_EQ(machine.peek(gate), 0U);
    EXPECT_TRUE(machine.errors.empty());
}

TEST_P(PreemptRegisters, ClosedGateStaysClosed) {
    if (!watched)
        return;
    bool was = false;
    ASSERT_EQ(machine.locked([&] { return nvdebug_gate_set(gpu(), runlist(), false, &was); }), 0);
    const u32 closed = machine.peek(gate);
    ASSERT_EQ(preempt(), 0);
    EXPECT_EQ(machine.peek(gate), closed);
    EXPECT_EQ(machine.writes(gate), 1);
}

TEST_P(PreemptRegisters, GateThatDoesNotCloseEndsThePreempt) {
    if (!watched)
        return;
    machine.on_write = [this](u32 offset, u32) { return offset == gate; };
    EXPECT_EQ(preempt(), -EIO);
    EXPECT_EQ(machine.writes(tsg), 0);
}

/// It is unknown whether the gate was open, so it is not opened.
TEST_P(PreemptRegisters, UnreadableGateIsNotWritten) {
    if (!watched)
        return;
    machine.on_read = [this](u32 offset) {
        return offset == gate ? std::optional(0xbadf1100) : std::nullopt;
    };
    EXPECT_EQ(preempt(), -EIO);
    EXPECT_TRUE(machine.written.empty());
    EXPECT_TRUE(machine.errors.empty());
}

TEST_P(PreemptRegisters, GateThatDoesNotOpenAgainIsLogged) {
    if (!watched)
        return;
    machine.on_write = [this](u32 offset, u32) {
        return offset == gate && machine.writes(gate) > 1;
    };
    EXPECT_EQ(preempt(), -EIO);
    EXPECT_EQ(machine.writes(tsg), 1);
    ASSERT_EQ(machine.errors.size(), 1U);
    EXPECT_NE(machine.errors[0].find("failed to restore scheduling"), std::string::npos);
}

/// A preempt waits first for an earlier preempt, and then for its own end.
TEST_P(PreemptRegisters, EarlierPreemptIsWaitedFor) {
    const u32 busy = ops->shared ? ops->tsg_pending : NV_RUNLIST_PREEMPT_TSG_PREEMPT_PENDING;
    if (!busy)
        return;
    int before = 0, after = 0;
    machine.on_read = [&](u32 offset) -> std::optional<u32> {
        if (offset != tsg)
            return std::nullopt;
        int &seen = machine.writes(tsg) ? after : before;
        return ++seen <= 3 ? std::optional(busy) : std::nullopt;
    };
    ASSERT_EQ(preempt(), 0);
    EXPECT_GT(before, 3);
    EXPECT_GT(after, ops->tsg_pending ? 3 : -1);
}

TEST_P(PreemptRegisters, EarlierPreemptThatDoesNotEndIsATimeout) {
    const u32 busy = ops->shared ? ops->tsg_pending : NV_RUNLIST_PREEMPT_RUNLIST_PREEMPT_PENDING;
    if (!busy)
        return;
    machine.on_read = [&](u32 offset) {
        return offset == tsg ? std::optional(busy) : std::nullopt;
    };
    EXPECT_EQ(preempt(), -ETIMEDOUT);
    EXPECT_EQ(machine.writes(tsg), 0);
    EXPECT_EQ(machine.peek(gate), 0U);
    EXPECT_EQ(machine.writes(gate), 0)
        << "the gate was closed while another preempt was waited for";
}

/// The GPU ignores the preempt. After a second the gate is open again.
TEST_P(PreemptRegisters, LostPreemptTimesOut) {
    if (!watched)
        return;
    machine.on_write = [this](u32 offset, u32) { return offset == tsg; };
    int failed = 0;
    for (u32 id = 0; id < 3; id++)
        failed += preempt(id) == -ETIMEDOUT;
    EXPECT_EQ(failed, 1); // for the TSG on the engine
    EXPECT_EQ(machine.peek(gate), 0U);
}

TEST_P(PreemptRegisters, RunlistIsPreemptedByItsRegisterOrBySubmitting) {
    ASSERT_EQ(preempt_list(), 0);
    if (ops->runlist) {
        ASSERT_EQ(machine.written.size(), 1U);
        EXPECT_EQ(machine.written[0], std::pair(list, ops->shared ? 1U << runlist()->id : 0));
    } else {
        EXPECT_EQ(machine.writes(gpu()->chip->submit->port(runlist())), 1);
    }
}

TEST_P(PreemptRegisters, EarlierPreemptOfARunlistIsWaitedFor) {
    if (!ops->runlist)
        return;
    const std::vector<u32> bits = ops->shared
                                      ? std::vector<u32>{1U << runlist()->id}
                                      : std::vector<u32>{NV_RUNLIST_PREEMPT_RUNLIST_PREEMPT_PENDING,
                                                         NV_RUNLIST_PREEMPT_TSG_PREEMPT_PENDING};
    for (const u32 bit : bits) {
        int before = 0, after = 0;
        machine.on_read = [&](u32 offset) -> std::optional<u32> {
            if (offset != list)
                return std::nullopt;
            int &seen = machine.writes(list) ? after : before;
            return ++seen <= 3 ? std::optional(bit) : std::nullopt;
        };
        ASSERT_EQ(preempt_list(), 0);
        EXPECT_GT(before, 3);
        EXPECT_GT(after, 3);
    }
    machine.on_read = [&](u32 offset) {
        return offset == list ? std::optional(bits[0]) : std::nullopt;
    };
    EXPECT_EQ(preempt_list(), -ETIMEDOUT);
    EXPECT_EQ(machine.writes(list), 0);
}

TEST_P(PreemptRegisters, UnreadableRegisterIsNotWritten) {
    for (const int good : {0, 1}) {
        int reads = 0;
        machine.on_read = [&](u32 offset) {
            return offset == tsg && ++reads > good ? std::optional(0xbadf1100) : std::nullopt;
        };
        EXPECT_EQ(preempt(), -EIO) << good;
        EXPECT_EQ(machine.writes(tsg), 0) << good;
        EXPECT_EQ(machine.peek(gate), 0U) << good;
    }
}

INSTANTIATE_TEST_SUITE_P(Boards, PreemptRegisters,
                         testing::Values("gtx1080ti", "titan-v", "rtx2080ti", "a100", "h200",
                                         "b200", "rtx5090"),
                         name_of_board);

} // namespace
} // namespace core
