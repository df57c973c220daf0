// SPDX-License-Identifier: MIT OR GPL-2.0
// A submit during which one access goes wrong. Afterwards the list is the driver's or the one of
// the request.
#include "bench.hpp"
#include "text.hpp"

#include <array>

namespace core {
namespace {

class Submit : public OnBoard {
  protected:
    void SetUp() override { where = location(); }

    Fields location() {
        Fields head = boxes(bench.text("runlist0")).at(0).fields;
        return {{"Address", head["Address"]},
                {"Aperture", head["Aperture"]},
                {"Entries", head["Entries"]}};
    }
    std::uint64_t accesses_of(const std::string &file, const std::string &request) {
        bench.machine.fault("none");
        EXPECT_EQ(bench.write(file, request).error, 0);
        return bench.machine.model().faults().accesses();
    }
    /// Returns the engine time of runlist 0's three TSGs since the workload began.
    std::array<double, 3> progress() {
        std::array<double, 3> all{};
        for (const auto &channel : bench.machine.model().progress())
            if (channel.runlist == 0 && channel.tsg)
                all.at(*channel.tsg) += channel.progress_us;
        return all;
    }
    void expect_even() {
        constexpr nvmodel::Ns slice = 1998848;
        constexpr unsigned rounds = 400;
        bench.machine.model().advance(2 * slice);
        const auto before = progress();
        bench.machine.model().advance(3 * rounds * slice);
        const auto after = progress();
        for (std::size_t tsg = 0; tsg < before.size(); tsg++)
            EXPECT_NEAR((after[tsg] - before[tsg]) * 1000 / slice, rounds, 0.02 * rounds);
    }

    Fields where;
};

/// Each read in turn gives a word that could be right. The request must not submit it.
TEST_P(Submit, WrongWordIsNeverSubmitted) {
    const std::uint64_t address = std::stoull(where["Address"], nullptr, 16);
    const std::uint64_t page = bench.since("rtx2080ti") ? address & 0xffffffff : address >> 12;
    const std::uint64_t shorter = std::stoull(where["Entries"]) - 1;
    const std::uint64_t usual = accesses_of("resubmit_runlist", "0");
    for (std::uint64_t access = 0; access < usual; access++)
        for (const std::uint64_t word : std::array{page ^ 0x1000, shorter}) {
            bench.machine.fault("wrong-after " + std::to_string(access) + " " + hex(word));
            static_cast<void>(bench.write("resubmit_runlist", "0"));
            bench.machine.fault("none");
            EXPECT_EQ(location(), where) << access << ", " << hex(word);
        }
    expect_even();
}

TEST_P(Submit, FailedReadLeavesTheDriversList) {
    const std::uint64_t usual = accesses_of("switch_to_tsg", "0:1");
    ASSERT_EQ(bench.write("resubmit_runlist", "0").error, 0);
    unsigned failed = 0;
    for (std::uint64_t access = 0; access < usual; access++) {
        bench.machine.fault("wrong-after " + std::to_string(access) + " 0xbadf5040");
        const bool done = bench.write("switch_to_tsg", "0:1").error == 0;
        bench.machine.fault("none");
        if (done) {
            const auto found = entries(bench.text("runlist0"));
            ASSERT_EQ(found.size(), 4U) << access;
            EXPECT_EQ(found[1].number, 1U);
            EXPECT_EQ(bench.write("resubmit_runlist", "0").error, 0);
        }
        failed += !done;
        EXPECT_EQ(location(), where) << access;
    }
    EXPECT_GT(failed, 0U);
    expect_even();
}

INSTANTIATE_TEST_SUITE_P(All, Submit, testing::ValuesIn(cards), name_of_board);

} // namespace
} // namespace core
