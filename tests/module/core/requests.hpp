// SPDX-License-Identifier: MIT OR GPL-2.0
// A GPU with three tasks, for requests, while others may change it at the same time.
#pragma once

#include "bench.hpp"
#include "meddled.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace core {

struct Request {
    std::string file;
    std::string text;
};

/// Requests that succeed in the workload three-tasks.
inline const std::vector<Request> fine{
    {"translate", "0:2 0x100000000"}, {"disable_channel", "0:2 0:3"}, {"enable_channel", "0:2"},
    {"preempt_tsg", "0:1"},           {"preempt_tsg", "1"},           {"switch_to_tsg", "0:1"},
    {"set_timeslice", "0:1 4000"},    {"preempt_runlist", "0"},       {"resubmit_runlist", "0"},
    {"scheduling", "0 off"},          {"preemption_mode", "0:2 wfi"}};

class Requests : public testing::TestWithParam<std::string> {
  protected:
    Requests() : machine(GetParam(), "three-tasks") {
        EXPECT_EQ(machine.probe(), 0);
        all = files(machine);
        begin();
        in_use = shim.in_use;
    }
    ~Requests() override {
        shim.killed = false;
        machine.retire();
        EXPECT_EQ(shim.in_use, in_use);
    }

    /// Restarts the workload, with no callback left.
    void begin() {
        leave_alone();
        machine.retire();
        machine.restart("three-tasks");
        machine.model().advance(5000 * nvmodel::ns_per_us);
        machine.written.clear();
        machine.errors.clear();
        machine.done.clear();
    }
    void leave_alone() {
        machine.on_begin = nullptr;
        machine.on_read = nullptr;
        machine.on_write = nullptr;
        machine.on_memory_read = nullptr;
        machine.on_memory_write = nullptr;
        machine.refuse = 0;
        machine.asleep = false;
        shim.killed = false;
    }
    [[nodiscard]] const File *find(const std::string &name) const {
        const auto found = std::ranges::find(all, name, &File::name);
        return found == all.end() ? nullptr : &*found;
    }
    int write(const std::string &name, const std::string &text) {
        return Open(machine, *find(name)).write(text).error;
    }

    /// Calls `act` with each request for which this board has the file.
    template <typename Act>
    void of_each(Act act) {
        for (const Request &request : fine)
            if (find(request.file) != nullptr)
                act(request);
    }

    Meddled machine;
    std::vector<File> all;
    u64 in_use = 0;
};

} // namespace core
