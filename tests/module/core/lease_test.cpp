// SPDX-License-Identifier: MIT OR GPL-2.0
// Leases in general, and leases of gates and of switches, while others change the GPU, too: what
// the end of a lease undoes, what it leaves alone because others have changed it since, and the
// lines in the log.
#include "leases.hpp"
#include "text.hpp"

extern "C" {
#include "hw/runlist.h"
}
#include <linux/seq_buf.h>

#include <array>
#include <utility>

namespace core {
namespace {

// --- leases in general ---

TEST_P(Leases, HaveALimit) {
    {
        Open open(machine, file("disable_channel"));
        // Requests that fail do not count.
        for (int i = 0; i < 2 * NVDEBUG_LEASES_MAX; i++)
            EXPECT_EQ(open.write("lease x").error, -EINVAL);
        for (int i = 0; i < NVDEBUG_LEASES_MAX; i++)
            ASSERT_EQ(open.write("lease 0:2").error, 0) << i;
        EXPECT_EQ(open.write("lease 0:3").error, -ENOSPC);
        EXPECT_TRUE(is_enabled(3));
        EXPECT_FALSE(is_enabled(2));
        // A request without a lease does not count.
        EXPECT_EQ(open.write("0:4").error, 0);
    }
    EXPECT_TRUE(is_enabled(2));
    EXPECT_FALSE(is_enabled(4));
    EXPECT_EQ(shim.in_use, in_use);
}

TEST_P(Leases, AreUndoneInReverseOrder) {
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
            leave_the_bus();
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
    // The GPU is not left in use either.
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
    Open opened_before(machine, file("disable_channel"));
    shim.killed = true;
    EXPECT_EQ(opened_before.write("lease 0:2").error, -EINTR);
    EXPECT_EQ(write("disable_channel", "lease 0:2"), -EINTR);
    EXPECT_EQ(write("scheduling", "lease 0 off"), -EINTR);
    shim.killed = false;
    EXPECT_TRUE(is_enabled(2));
    EXPECT_EQ(machine.peek(gate()), 0U);
}

TEST_P(Leases, RequestsWithoutAnUndoAreRefused) {
    for (const auto &[name, text] :
         {std::pair("preempt_tsg", "lease 0:1"), std::pair("preempt_runlist", "lease 0"),
          std::pair("resubmit_runlist", "lease 0")}) {
        machine.written.clear();
        EXPECT_EQ(write(name, text), -EINVAL) << name;
        EXPECT_TRUE(machine.written.empty()) << name;
    }
}

TEST_P(Leases, KeywordStandsAloneAndFirst) {
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

TEST_P(Leases, AnswerThatIsTooLongIsAnError) {
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

// --- gates ---

TEST_P(Leases, GateUndoesOnlyItsOwnChanges) {
    ASSERT_EQ(write("scheduling", "0 off"), 0);
    EXPECT_TRUE(has(machine.done, "set scheduling of 1 runlist: 0 off ("));
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
    // Another program has closed the gate since.
    EXPECT_TRUE(machine.written.empty());
    EXPECT_NE(machine.peek(gate()), 0U);
    EXPECT_TRUE(machine.done.back().starts_with("lease over: set scheduling of 0 runlists: ("));
}

TEST_P(Leases, GateThatCannotBeRestoredIsLogged) {
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

TEST_P(Leases, GatesChangeInTheOrderOfTheRequest) {
    const u32 second = machine.gpu()->topology.runlist[1].id;
    machine.done.clear();
    ASSERT_EQ(write("scheduling", "0 off " + std::to_string(second) + " off 0 on"), 0);
    EXPECT_TRUE(has(machine.done, "set scheduling of 3 runlists: 0 off " + std::to_string(second) +
                                      " off 0 on ("));
    EXPECT_EQ(write("scheduling", std::to_string(second) + " on"), 0);
}

/// The second gate cannot be closed, so the first one is opened again. If the first one was closed
/// before the request, it stays closed.
TEST_P(Leases, GateThatDoesNotMoveUndoesTheOthers) {
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

TEST_P(Leases, RunlistThatFailsEndsTheRequest) {
    const u32 port = machine.gpu()->chip->submit->port(runlist());
    const u32 list = machine.gpu()->chip->runlist->registers(runlist());
    machine.on_read = [&](u32 offset) {
        return offset == list + machine.gpu()->chip->runlist->length_offset && machine.writes(port)
                   ? std::optional(0xbadf1100)
                   : std::nullopt;
    };
    EXPECT_EQ(write("resubmit_runlist", "0 0"), -EIO);
    EXPECT_EQ(machine.writes(port), 1);
    machine.on_read = nullptr;
    EXPECT_TRUE(machine.done.empty());
    ASSERT_EQ(write("resubmit_runlist", "0 0"), 0);
    EXPECT_TRUE(has(machine.done, "resubmitted 2 runlists: 0 0 ("));
    const nvdebug_preempt_ops *const ops = machine.gpu()->chip->preempt;
    machine.written.clear();
    ASSERT_EQ(write("preempt_runlist", "0"), 0);
    EXPECT_EQ(machine.writes(ops->runlist ? runlist()->base + ops->runlist : port), 1);
    EXPECT_TRUE(has(machine.done, "preempted 1 runlist: 0 ("));
    machine.written.clear();
    ASSERT_EQ(write("preempt_tsg", "0:1 0:0"), 0);
    EXPECT_EQ(machine.writes(runlist()->base + ops->tsg), 2);
    EXPECT_TRUE(has(machine.done, "preempted 2 TSGs: 0:1 0:0 ("));
    ASSERT_EQ(write("preempt_tsg", "0:1"), 0);
    EXPECT_TRUE(has(machine.done, "preempted 1 TSG: 0:1 ("));
}

/// Leases end before a driver is bound or unbound, because the changes were made for the present
/// owner.
TEST_P(Leases, EndBeforeTheDriverChanges) {
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
    // Closing the files does not undo the changes once more, because the state is the next driver's
    // by then.
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

/// A single target may take seconds. Others may take the lock before the next target, or the GPU
/// may be removed.
TEST_P(Leases, RequestTakesTheLockForEachTarget) {
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
    EXPECT_EQ(machine.writes(gate()), 2); // the first target, and its undo
    machine.leaving = false;
    machine.written.clear();
    EXPECT_EQ(write("preempt_tsg", "0:1 0:0"), -ENODEV);
    EXPECT_LE(machine.writes(runlist()->base + ops->tsg), 1);
    machine.on_write = nullptr;
    machine.leaving = false;
}

/// Up to Turing one register has the gates of all runlists.
TEST_P(Leases, GateIsWrittenWithInterruptsOff) {
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

// --- a runlist with registers that do not answer ---

TEST_P(Leases, UnreadableRunlistLeavesTheOthersUsable) {
    const nvdebug_topology &topology = machine.gpu()->topology;
    ASSERT_GT(topology.runlists, 1U);
    const nvdebug_runlist &second = topology.runlist[1];
    if (machine.gpu()->chip->preempt->shared)
        return; // one register has the gates of all runlists
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
    // The same holds if the first runlist is the unreadable one.
    machine.on_read = [this](u32 offset) {
        return offset == gate() ? std::optional(0xbadf5040) : std::nullopt;
    };
    EXPECT_EQ(write("scheduling", std::to_string(second.id) + " off"), 0);
    expected = before;
    expected.replace(expected.find("\n0 on\n"), 6, "\n0 unreadable\n");
    expected.replace(expected.find(line + "on\n"), (line + "on\n").size(), line + "off\n");
    EXPECT_EQ(read(machine, file("scheduling")).text, expected);
    EXPECT_EQ(write("scheduling", "0 off"), -EIO);
    EXPECT_EQ(write("scheduling", std::to_string(second.id) + " on"), 0);
    leave_the_bus();
    EXPECT_EQ(read(machine, file("scheduling")).error, -ENODEV);
    machine.on_read = nullptr;
}

TEST_P(Leases, UnreadableRunlistHasARowInContexts) {
    const nvdebug_topology &topology = machine.gpu()->topology;
    const nvdebug_runlist_ops *const ops = machine.gpu()->chip->runlist;
    const std::string before = read(machine, file("contexts")).text;
    const std::string none = " - - - - - - - unreadable\n";
    EXPECT_EQ(before.find(none), std::string::npos);
    // The runlist is an empty one, and then the one with all tasks.
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
    leave_the_bus();
    EXPECT_EQ(read(machine, file("contexts")).error, -ENODEV);
    machine.on_read = nullptr;
}

// --- switch_to_tsg and set_timeslice ---

TEST_P(Leases, SwitchThatCannotBeUndoneIsLogged) {
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

TEST_P(Leases, SwitchOfAListThatTheDriverReplacedIsOver) {
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

/// Returns the TSGs of the current list.
std::vector<unsigned> listed_tsgs(const Text &list) {
    std::vector<unsigned> found;
    for (const Box &box : of_kind(boxes(list.text), "TSG Entry"))
        found.push_back(*box.number);
    return found;
}

TEST_P(Leases, SwitchThatAnotherSwitchReplacedIsOver) {
    {
        Open open(machine, file("switch_to_tsg"));
        ASSERT_EQ(open.write("lease 0:1").error, 0);
        ASSERT_EQ(write("switch_to_tsg", "0:2"), 0);
        machine.written.clear();
    }
    EXPECT_TRUE(machine.written.empty());
    EXPECT_EQ(listed_tsgs(read(machine, file("runlist0_brief"))), std::vector<unsigned>{2});
    ASSERT_EQ(write("resubmit_runlist", "0"), 0);
    EXPECT_EQ(listed_tsgs(read(machine, file("runlist0_brief"))), (std::vector<unsigned>{0, 1, 2}));
    EXPECT_EQ(shim.in_use, in_use);
}

TEST_P(Leases, SwitchThatAResubmitReplacedIsOver) {
    {
        Open open(machine, file("switch_to_tsg"));
        ASSERT_EQ(open.write("lease 0:1").error, 0);
        ASSERT_EQ(write("resubmit_runlist", "0"), 0);
        EXPECT_EQ(listed_tsgs(read(machine, file("runlist0_brief"))),
                  (std::vector<unsigned>{0, 1, 2}));
        machine.written.clear();
    }
    EXPECT_TRUE(machine.written.empty());
    EXPECT_TRUE(has(machine.done, "lease over: resubmitted 0 runlists"));
    EXPECT_EQ(shim.in_use, in_use);
}

INSTANTIATE_TEST_SUITE_P(Boards, Leases,
                         testing::Values("gtx1080ti", "titan-v", "rtx2080ti", "a100", "h200"),
                         name_of_board);

} // namespace
} // namespace core
