// SPDX-License-Identifier: MIT OR GPL-2.0
// The form of runlist files, which docs/proc.md describes. corruption_test.cpp has runlist files
// with nonsense in memory.
#include "bench.hpp"
#include "text.hpp"

#include <string>
#include <vector>

namespace core {
namespace {

class RunlistFiles : public OnBoard {
  protected:
    /// Returns the texts of all runlist files of this workload, with and without instance blocks.
    std::vector<std::string> texts(const std::string &workload) {
        std::vector<std::string> all;
        bench.machine.restart(workload);
        bench.machine.model().advance(5000 * nvmodel::ns_per_us);
        for (const nvmodel::RunlistRow &row : bench.machine.model().board().runlists)
            for (const char *const form : {"", "_brief"}) {
                const std::string file = "runlist" + std::to_string(row.id) + form;
                if (bench.has(file))
                    all.push_back(bench.text(file));
            }
        EXPECT_FALSE(all.empty());
        return all;
    }
};

TEST_P(RunlistFiles, HaveKnownBoxesWhereTheyBelong) {
    for (const char *const workload : {"idle", "three-tasks", "mixed", "sysmem", "fig6"})
        for (const std::string &text : texts(workload))
            expect_known_boxes(text);
}

INSTANTIATE_TEST_SUITE_P(All, RunlistFiles, testing::ValuesIn(all_boards()), name_of_board);

} // namespace
} // namespace core
