// SPDX-License-Identifier: MIT OR GPL-2.0
// A GPU with three tasks, for requests and their leases.
#pragma once

#include "bench.hpp"
#include "meddled.hpp"

extern "C" {
#include "chips/chips.h"
}

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace core {

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
    /// Returns the channel's name as the module's log has it.
    [[nodiscard]] std::string name_of(u32 id) {
        return (channels()->per_runlist ? "0:" : "") + std::to_string(id);
    }

    // --- the gate ---

    [[nodiscard]] u32 gate() { return runlist()->base + machine.gpu()->chip->preempt->gate; }

    [[nodiscard]] static bool has(const std::vector<std::string> &lines, const std::string &text) {
        return std::ranges::any_of(
            lines, [&](const std::string &line) { return line.find(text) != std::string::npos; });
    }
    /// All registers read as ones from now on, as if the GPU were off the bus.
    void leave_the_bus() {
        machine.on_read = [](u32) { return std::optional(~0U); };
    }

    Meddled machine;
    std::vector<File> all;
    u64 in_use = 0;
};

} // namespace core
