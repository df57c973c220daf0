// SPDX-License-Identifier: MIT OR GPL-2.0
// Clients of an MPS server on the modelled GPU. Each rule is tested while it is kept and while it
// is broken.
#include "programs_support.hpp"

#include <algorithm>
#include <iterator>
#include <set>

namespace nvmodel::test {
namespace {

std::vector<Process> two_clients_and_one() {
    return {
        {.name = "c1", .mps_server = "mps"}, {.name = "c2", .mps_server = "mps"}, {.name = "o"}};
}

TEST(ProgramsOfMps, ClientsAreOneTask) {
    for (const bool kept : {true, false}) {
        Programs programs = on_h200(two_clients_and_one(), {.mps_one_task = kept});
        for (const std::size_t process : {0U, 1U, 2U})
            programs.launch(programs.open_stream(process), {.blocks = 4, .block = 20 * ms});
        finish(programs);
        EXPECT_EQ(programs.tsgs(0) == programs.tsgs(1), kept);
        EXPECT_NE(programs.tsgs(0), programs.tsgs(2));
        const Ns together = overlap(programs.operation(0), programs.operation(1));
        EXPECT_EQ(together, kept ? 20 * ms : 0);
        EXPECT_EQ(overlap(programs.operation(0), programs.operation(2)), 0);
        // The client's share is a half, as that of one of two tasks, or a third.
        EXPECT_NEAR(to_us(programs.operation(2).ended), kept ? 45'000 : 64'000, 4'000);
    }
}

TEST(ProgramsOfMps, ClientsHaveFewChannels) {
    const Process client{.name = "c", .mps_server = "mps"};
    EXPECT_EQ(at_once(4, client, {}).size(), 2U);
    EXPECT_EQ(at_once(4, client, {.mps_channels = false}).size(), 4U);
    EXPECT_EQ(at_once(4, {.name = "c", .connections = 8, .mps_server = "mps"}, {}).size(), 4U);
    EXPECT_EQ(at_once(4, {.name = "c"}, {}).size(), 4U);
}

TEST(ProgramsOfMps, ClientsAreToldOtherSms) {
    for (const bool kept : {true, false}) {
        Programs programs = on_h200(two_clients_and_one(), {.mps_sm_numbers = kept});
        std::set<unsigned> sms, told;
        for (const std::size_t process : {0U, 1U})
            programs.launch(programs.open_stream(process),
                            {.blocks = 48, .shared = 160 << 10, .block = 60 * ms});
        finish(programs);
        EXPECT_GT(overlap(programs.operation(0), programs.operation(1)), 50 * ms);
        for (const std::size_t client : {0U, 1U})
            for (const BlockRun &block : programs.operation(client).blocks) {
                sms.insert(block.sm);
                told.insert(block.told);
                EXPECT_EQ(block.sm == block.told, !kept);
            }
        EXPECT_EQ(sms.size(), 96U) << "no two of these blocks fit on an SM";
        EXPECT_EQ(told.size() == sms.size(), !kept);
    }
}

TEST(ProgramsOfMps, Partitions) {
    std::vector<Process> processes;
    for (const char *name : {"c1", "c2", "c3"})
        processes.push_back({.name = name, .mps_server = "mps", .percentage = 50});
    processes.push_back({.name = "c4", .mps_server = "mps", .percentage = 25});
    processes.push_back({.name = "c5", .mps_server = "mps"});
    const auto sms = [](const Programs &programs, std::size_t client) {
        const auto all = programs.sms(client);
        return std::set<unsigned>(all.begin(), all.end());
    };
    Programs programs = on_h200(processes);
    EXPECT_EQ(sms(programs, 0).size(), 66U);
    EXPECT_EQ(sms(programs, 3).size(), 32U);
    EXPECT_EQ(sms(programs, 4).size(), 132U);
    std::vector<unsigned> both;
    std::ranges::set_intersection(sms(programs, 0), sms(programs, 1), std::back_inserter(both));
    EXPECT_TRUE(both.empty());
    EXPECT_EQ(sms(programs, 2), sms(programs, 0)) << "though the second one may end";
    Programs broken = on_h200(processes, {.mps_partitions = false});
    EXPECT_EQ(sms(broken, 0).size(), 132U);

    for (const std::size_t client : {0U, 2U})
        programs.launch(programs.open_stream(client),
                        {.blocks = 4000, .threads = 256, .block = ms});
    finish(programs);
    // 66 SMs have room for 528 blocks, which two clients share.
    EXPECT_NEAR(to_us(programs.operation(0).ended), 2 * 4000.0 / 528 * 1000, 1200);
    for (const BlockRun &block : programs.operation(1).blocks)
        ASSERT_TRUE(sms(programs, 2).contains(block.sm));
}

} // namespace
} // namespace nvmodel::test
