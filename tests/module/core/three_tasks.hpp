// SPDX-License-Identifier: MIT OR GPL-2.0
// A base for fixtures: a board with three tasks on the graphics engine's runlist, all with work.
#ifndef NVDEBUG_TESTS_CORE_THREE_TASKS_HPP
#define NVDEBUG_TESTS_CORE_THREE_TASKS_HPP

#include <gtest/gtest.h>

#include <string>

#include "bench.hpp"
#include "meddled.hpp"

extern "C" {
#include "decode/runlist.h"
#include "host/submit.h"
}

namespace core {

class ThreeTasks {
  protected:
    explicit ThreeTasks(const std::string &board) : machine(board, "three-tasks") {
        EXPECT_EQ(machine.probe(), 0);
        machine.model().advance(5000 * nvmodel::ns_per_us);
    }
    ~ThreeTasks() { shim.killed = false; }

    [[nodiscard]] nvdebug_gpu *gpu() { return machine.gpu(); }
    /// Returns the graphics engine's runlist, which has the tasks.
    [[nodiscard]] const nvdebug_runlist *runlist() { return &gpu()->topology.runlist[0]; }
    /// Returns the place of the current list.
    [[nodiscard]] nvdebug_runlist_location where() {
        nvdebug_runlist_location loc{};
        EXPECT_EQ(machine.locked([&] { return nvdebug_submit_settle(gpu(), runlist(), &loc); }), 0);
        return loc;
    }

    Meddled machine;
};

} // namespace core

#endif
