// SPDX-License-Identifier: MIT OR GPL-2.0
// The task is killed at each access in turn. It ends soon, and no request is left half done.
#include "bench.hpp"
#include "meddled.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace core {
namespace {

const std::vector<std::pair<std::string, std::string>> killed_requests{
    {"translate", "0:2 0x100000000"}, {"disable_channel", "0:2 0:3"}, {"enable_channel", "0:2"},
    {"preempt_tsg", "0:1"},           {"switch_to_tsg", "0:1"},       {"set_timeslice", "0:1 4000"},
    {"preempt_runlist", "0"},         {"resubmit_runlist", "0"},      {"scheduling", "0 off"},
    {"preemption_mode", "0:2 wfi"}};

class Killed : public testing::TestWithParam<std::string> {
  protected:
    Killed() : machine(GetParam(), "three-tasks") {
        EXPECT_EQ(machine.probe(), 0);
        machine.model().advance(5000 * nvmodel::ns_per_us);
        all = files(machine);
        in_use = shim.in_use;
    }
    ~Killed() override { revive(); }

    /// Kills the task at access `n`, counted from 0.
    void kill_at(u64 n) {
        accesses = 0;
        const auto count = [this, n] {
            shim.killed = shim.killed || accesses == n;
            accesses++;
        };
        machine.on_read = [count](u32) { return count(), std::nullopt; };
        machine.on_memory_read = [count](u64) { return count(), std::nullopt; };
    }
    void revive() {
        shim.killed = false;
        machine.on_read = nullptr;
        machine.on_memory_read = nullptr;
    }
    /// Returns the parts of the files that requests change and that the passing of time does not
    /// change.
    std::string state() {
        std::string kept;
        for (const File &file : all) {
            if (file.name != "scheduling" && file.name != "runlist0_brief")
                continue;
            std::istringstream text(read(machine, file).text);
            for (std::string line; std::getline(text, line);)
                if (file.name == "scheduling" || line.find("Enabled:") != std::string::npos ||
                    line.find("Timeslice") != std::string::npos ||
                    line.find("Address:") != std::string::npos)
                    kept += line + "\n";
        }
        return kept;
    }

    Meddled machine;
    std::vector<File> all;
    u64 in_use = 0;
    u64 accesses = 0;
};

TEST_P(Killed, ReadingEndsWithoutAText) {
    for (const File &file : all) {
        if (file.view == nullptr || !file.view->live)
            continue;
        kill_at(~0ULL);
        if (read(machine, file).error)
            continue; // the board lacks this pair of engines
        const u64 usual = accesses, step = std::getenv("NVDEBUG_LONG") ? 1 : 1 + usual / 50;
        for (u64 n = 0; n < usual; n += step) {
            kill_at(n);
            const Text got = read(machine, file);
            revive();
            ASSERT_TRUE(got.error == 0 || got.error == -EINTR)
                << file.name << ", " << n << ": " << got.error;
            ASSERT_EQ(got.text.empty(), got.error != 0) << file.name << ", " << n;
            ASSERT_EQ(shim.in_use, in_use) << file.name << ", " << n;
        }
    }
}

TEST_P(Killed, RequestIsNotBegun) {
    shim.killed = true;
    for (const auto &[name, text] : killed_requests) {
        const auto file = std::ranges::find(all, name, &File::name);
        if (file != all.end()) {
            EXPECT_EQ(Open(machine, *file).write(text).error, -EINTR) << name;
        }
    }
    EXPECT_TRUE(machine.written.empty());
    EXPECT_EQ(shim.in_use, in_use);
}

TEST_P(Killed, RequestIsDoneOrUndone) {
    for (const auto &[name, text] : killed_requests) {
        const auto file = std::ranges::find(all, name, &File::name);
        if (file == all.end())
            continue;
        for (u64 n = 0;; n += std::getenv("NVDEBUG_LONG") ? 1 : 3) {
            machine.retire();
            machine.restart("three-tasks");
            machine.model().advance(5000 * nvmodel::ns_per_us);
            machine.errors.clear();
            const std::string before = state();
            kill_at(n);
            const int error = Open(machine, *file).write(text).error;
            const bool was_killed = shim.killed;
            revive();
            if (!was_killed)
                break;
            const std::string at = name + ", access " + std::to_string(n);
            if (error == -EINTR) {
                // A preempt, or a submit of the same list, changes nothing of this.
                ASSERT_EQ(state(), before) << at;
            } else if (name != "preemption_mode") {
                ASSERT_EQ(error, 0) << at;
            }
            ASSERT_FALSE(machine.gpu()->lock.held) << at;
            for (const std::string &line : machine.errors)
                ASSERT_EQ(line.find("failed to restore"), std::string::npos) << at << ": " << line;
        }
    }
    machine.retire();
    EXPECT_EQ(shim.in_use, in_use);
}

INSTANTIATE_TEST_SUITE_P(Boards, Killed, testing::Values("gtx1080ti", "titan-v", "a100"),
                         name_of_board);

} // namespace
} // namespace core
