// SPDX-License-Identifier: MIT OR GPL-2.0
// The driver moves a list while it is copied.
#include "bench.hpp"
#include "text.hpp"

namespace core {
namespace {

class Moves : public OnBoard {
  protected:
    void SetUp() override {
        bench.machine.restart("many-64");
        // The word with a channel's USERD address is not read, nor is, in wide entries up to
        // Turing, the high word of the instance pointer.
        const std::uint64_t channels = 64;
        const std::uint64_t left_out = bench.wide_entries() && !bench.ids_per_runlist() ? 2 : 1;
        words = bench.list().at("entries").get<std::uint64_t>() * bench.entry_words() -
                channels * left_out;
    }
    std::vector<Box> read_with(const std::string &fault) {
        bench.machine.fault("none");
        bench.machine.fault("move-runlist 0 " + fault);
        return boxes(bench.text("runlist0_brief"));
    }

    std::uint64_t words = 0;
};

TEST_P(Moves, MoveDuringOneCopyIsReadAgain) {
    for (const std::uint64_t after : {std::uint64_t{1}, words / 2, words - 1}) {
        const std::vector<Box> all = read_with(std::to_string(after) + " 1");
        EXPECT_EQ(bench.machine.model().faults().hits(), 1U) << after;
        EXPECT_EQ(all.at(0).fields.at("Snapshot"), "consistent") << after;
        EXPECT_EQ(of_kind(all, "Channel Info").size(), 64U) << after;
    }
}

TEST_P(Moves, MoveDuringEachCopyGivesATornSnapshot) {
    EXPECT_EQ(read_with(std::to_string(words - 50)).at(0).fields.at("Snapshot"), "torn");
}

INSTANTIATE_TEST_SUITE_P(All, Moves, testing::ValuesIn(cards), name_of_board);

} // namespace
} // namespace core
