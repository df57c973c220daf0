// SPDX-License-Identifier: MIT OR GPL-2.0
// If one of a runlist's status registers does not answer, that is an error and not an idle runlist.
#include "three_tasks.hpp"

extern "C" {
#include "chips/chips.h"
#include "state/occupancy.h"
}

#include <vector>

namespace core {
namespace {

bool matches_nothing(const void * /*data*/, bool /*is_tsg*/, u32 /*id*/) {
    return false;
}
bool matches_everything(const void * /*data*/, bool /*is_tsg*/, u32 /*id*/) {
    return true;
}

class Occupancy : public testing::TestWithParam<std::string>, protected ThreeTasks {
  protected:
    Occupancy() : ThreeTasks(GetParam()) {}

    int occupied(nvdebug_match_fn match) {
        return machine.locked(
            [&] { return nvdebug_runlist_occupied(gpu(), runlist(), match, nullptr); });
    }
    /// Returns the public status registers of the runlist's PBDMAs and engines.
    std::vector<u32> registers() {
        const nvdebug_status_ops *ops = gpu()->chip->status;
        std::vector<u32> all;
        for (u32 i = 0; i < runlist()->pbdmas; i++)
            all.push_back(ops->pbdma_reg(&runlist()->pbdma[i]));
        for (u32 i = 0; i < gpu()->topology.engines; i++) {
            const nvdebug_engine &engine = gpu()->topology.engine[i];
            const u32 reg = ops->engine_reg(gpu(), &engine);
            if ((engine.has & NVDEBUG_ENGINE_HAS_RUNLIST) && engine.runlist == runlist()->id && reg)
                all.push_back(reg);
        }
        return all;
    }
};

TEST_P(Occupancy, FindsATaskThatRuns) {
    EXPECT_EQ(occupied(matches_nothing), 0);
    EXPECT_EQ(occupied(matches_everything), 1);
}

TEST_P(Occupancy, IsAnErrorIfAStatusCannotBeRead) {
    const std::vector<u32> all = registers();
    ASSERT_GT(all.size(), runlist()->pbdmas) << "no engine of this board has a public status";
    for (const u32 reg : all) {
        machine.on_read = [reg](u32 offset) {
            return offset == reg ? std::optional(0xbadf1100) : std::nullopt;
        };
        EXPECT_EQ(occupied(matches_nothing), -EIO) << std::hex << reg;
    }
    machine.on_read = nullptr;
}

INSTANTIATE_TEST_SUITE_P(Boards, Occupancy, testing::Values("gtx1080ti", "titan-v", "a100", "h200"),
                         name_of_board);

} // namespace
} // namespace core
