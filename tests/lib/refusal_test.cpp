// SPDX-License-Identifier: MIT OR GPL-2.0
// Finds the reason for a refused request in the GPU's state.
#include <gtest/gtest.h>

#include <cerrno>

#include "fixture.hpp"
#include "lib/nvdebug/error.hpp"
#include "lib/nvdebug/refusal.hpp"

using namespace nvdebug;
using fixture::Board;
using fixture::value;

namespace {

/// Returns the text after "failed: " if the kernel answers @p request with @p number.
std::string why(const Board &board, const Request &request, int number = EINVAL) {
    const Gpu gpu = board.gpu();
    const Error general =
        cannot_control(gpu.tree().impl(), gpu.folder() + "/" + request.file, request.text, number);
    const Error error = why_refused(gpu, request.file, request.text, general);
    EXPECT_EQ(error.number, number);
    EXPECT_EQ(error.path, general.path);
    const std::string before = "'" + request.text + "' to " + error.path + " failed: ";
    EXPECT_TRUE(error.sentence.starts_with(before)) << error.sentence;
    return error.sentence.substr(before.size());
}

const std::string held = "runlist 0 holds TSGs 10-13, runlist 5 TSGs 14, 15, runlist 6 TSGs 16, 17";

TEST(Refusals, NameMissingTargets) {
    const Board board("gtx1060-3gb", "mixed");
    EXPECT_EQ(why(board, preempt_tsgs({{{}, 10}, {{}, 77}})),
              "no runlist holds TSG 77 now; " + held);
    EXPECT_EQ(why(board, switch_to_tsg({5, 16})),
              "runlist 5 does not hold TSG 16 now; it holds TSGs 14, 15");
    EXPECT_EQ(why(board, set_timeslice({1, 16}, 2'000'000)),
              "runlist 1 does not hold TSG 16 now; it holds no TSG");
    EXPECT_EQ(
        why(board, disable_channels({{0, 20}, {0, 70}})),
        "runlist 0 does not hold channel 70 now; it holds channels 20-22, 30, 31, 40, 50, 51");
    EXPECT_EQ(why(board, enable_channels({{6, 1'000'000}}), ERANGE),
              "runlist 6 does not hold channel 1000000 now; it holds channels 70-73");
    EXPECT_EQ(why(board, set_preemption_mode({0, 1}, PreemptionMode::cta)),
              "runlist 0 does not hold channel 1 now; it holds channels 20-22, 30, 31, 40, 50, 51");
    EXPECT_EQ(
        why(board, {"disable_channel", "lease 0:70", true}),
        "runlist 0 does not hold channel 70 now; it holds channels 20-22, 30, 31, 40, 50, 51");
    EXPECT_EQ(why(board, {"translate", "5:20 0x1000", false}),
              "runlist 5 does not hold channel 20 now; it holds channels 60, 61");
}

TEST(Refusals, NameMissingRunlists) {
    const Board board("gtx1060-3gb", "mixed");
    const std::string none = "gpu0 (GP106) has no runlist 4; it has 0-3, 5, 6";
    EXPECT_EQ(why(board, preempt_runlists({0, 4})), none);
    EXPECT_EQ(why(board, resubmit_runlists({4})), none);
    EXPECT_EQ(why(board, schedule_runlists({0, 4}, false)), none);
    EXPECT_EQ(why(board, disable_channels({{4, 1}})), none);
    EXPECT_EQ(why(board, preempt_tsgs({{4, 1}}), ERANGE), none);
}

TEST(Refusals, GiveOtherReasonsIfTheTargetsAreRight) {
    const Board board("gtx1060-3gb", "mixed");
    EXPECT_EQ(why(board, set_timeslice({0, 10}, 500), ERANGE),
              "a timeslice is 1.024 to 8556380.160 microseconds, not 0.500");
    // The second word is no target here, though it could be one.
    EXPECT_EQ(why(board, {"set_timeslice", "0:10 0", true}, ERANGE),
              "a timeslice is 1.024 to 8556380.160 microseconds, not 0");
    EXPECT_EQ(why(board, set_preemption_mode({0, 20}, PreemptionMode::cta)),
              "the channel has no graphics context");
    EXPECT_EQ(why(board, switch_to_tsg({0, 10})),
              "fewer channels follow the TSG's header than that says");
}

TEST(Refusals, KeepTheGeneralReasonWhereNoneIsFound) {
    const Board board("gtx1060-3gb", "mixed");
    const auto general = [&](const Request &request, int number) {
        return cannot_control(board.gpu().tree().impl(), "gpu0/" + request.file, request.text,
                              number)
            .sentence.ends_with(why(board, request, number));
    };
    EXPECT_TRUE(general(disable_channels({{0, 20}}), EINVAL));
    EXPECT_TRUE(general(disable_channels({{0, 70}}), EPERM));
    EXPECT_TRUE(general({"preemption_mode", "0:20 WFI", true}, EINVAL));
    EXPECT_TRUE(general({"switch_to_tsg", "0:10 0:11", true}, EINVAL));
    EXPECT_TRUE(general({"translate", "0x1001 0", false}, EINVAL));
    EXPECT_TRUE(general({"enable_channel", " ", true}, EINVAL));
    // A list that cannot be read gives no reason.
    board.folder().write("gpu0/runlist5_brief", "nonsense\n");
    EXPECT_TRUE(general(preempt_tsgs({{{}, 77}}), EINVAL));
    board.folder().write("gpu0/info", "nonsense\n");
    EXPECT_TRUE(general(preempt_tsgs({{0, 77}}), EINVAL));
}

/// Makes a list of bare channels.
Runlist list_of(std::uint32_t id, std::vector<std::uint32_t> channels) {
    Runlist list{};
    list.id = id;
    for (const std::uint32_t number : channels) {
        Channel channel{};
        channel.id = number;
        list.items.emplace_back(channel);
    }
    return list;
}

TEST(Holders, AreOneOrNone) {
    const std::vector<Runlist> lists = {list_of(0, {1, 2}), list_of(3, {2}), list_of(4, {})};
    EXPECT_EQ(value(holder_of(lists, {{}, 1}, Listed::channel)), &lists[0]);
    EXPECT_EQ(value(holder_of(lists, {3, 2}, Listed::channel)), &lists[1]);
    const Error several = holder_of(lists, {{}, 2}, Listed::channel).error();
    EXPECT_EQ(several.code, ErrorCode::invalid);
    EXPECT_EQ(several.sentence, "channel 2 is on several runlists; say which: 0:2, 3:2");
    const Error none = holder_of(lists, {4, 2}, Listed::channel).error();
    EXPECT_EQ(none.code, ErrorCode::not_found);
    EXPECT_EQ(none.sentence, "runlist 4 does not hold channel 2 now; it holds no channel");
    EXPECT_EQ(holder_of(lists, {{}, 1}, Listed::tsg).error().sentence,
              "no runlist holds TSG 1 now; none holds any");
}

TEST(Holders, NameOnlyTheFirstOfManyIds) {
    std::vector<std::uint32_t> even;
    for (std::uint32_t id = 0; id < 300; id += 2)
        even.push_back(id);
    const std::vector<Runlist> lists = {list_of(0, even)};
    const std::string said = holder_of(lists, {{}, 1}, Listed::channel).error().sentence;
    EXPECT_TRUE(said.ends_with("124, 126 and 86 more")) << said;
    EXPECT_TRUE(holder_of(lists, {{}, 298}, Listed::channel));
}

} // namespace
