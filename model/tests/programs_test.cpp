// SPDX-License-Identifier: MIT OR GPL-2.0
// Programs on the modelled GPU. Each rule is tested while it is kept and while it is broken, so
// that an experiment that looks for it can fail. Numbers that were measured on an H100 are those of
// lab/.
#include "programs_support.hpp"

#include "regs/ctxsw.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace nvmodel::test {
namespace {

/// Runs two processes with a kernel each, of four small blocks of 20 ms.
std::pair<Operation, Operation> two_kernels(const Rules &rules) {
    Programs programs = on_h200({{.name = "a"}, {.name = "b"}}, rules);
    for (const std::size_t process : {0U, 1U})
        programs.launch(programs.open_stream(process), {.blocks = 4, .block = 20 * ms});
    finish(programs);
    return {programs.operation(0), programs.operation(1)};
}

TEST(Programs, TasksTakeTurnsBySlices) {
    const auto [one, other] = two_kernels({});
    EXPECT_EQ(overlap(one, other), 0);
    const auto slices = ran(one);
    ASSERT_GE(slices.size(), 8U);
    for (std::size_t i = 0; i + 1 < slices.size(); ++i) {
        EXPECT_EQ(slices[i].end - slices[i].begin, compute_slice);
        // The other's slice and two switches of 152 us are between them.
        EXPECT_NEAR(to_us(slices[i + 1].begin - slices[i].end), to_us(compute_slice) + 304, 2);
    }
}

TEST(Programs, BrokenOneTask) {
    const auto [one, other] = two_kernels({.one_task = false});
    EXPECT_GT(overlap(one, other), 19 * ms);
}

TEST(Programs, BrokenTimeslices) {
    const auto [one, other] = two_kernels({.timeslices = false});
    EXPECT_EQ(ran(one).size(), 1U);
    EXPECT_GE(ran(other).front().begin, one.ended);
}

TEST(Programs, CopiesOfTwoProcessesTakeTurns) {
    Programs programs = on_h200({{.name = "a"}, {.name = "b"}});
    for (const std::size_t process : {0U, 1U})
        programs.copy(programs.open_stream(process), Direction::to_host, 512 * mib);
    finish(programs);
    EXPECT_EQ(overlap(programs.operation(0), programs.operation(1)), 0);
    const auto &progress = programs.operation(0).progress;
    ASSERT_GE(progress.size(), 8U);
    double bytes = 0;
    for (const CopyProgress &part : progress)
        bytes += part.bytes;
    EXPECT_NEAR(bytes, 512.0 * mib, 1000);
    for (std::size_t i = 1; i + 1 < progress.size(); ++i) {
        EXPECT_EQ(progress[i].when.end - progress[i].when.begin, copy_slice);
        EXPECT_NEAR(to_us(progress[i + 1].when.begin - progress[i].when.begin), 2107, 2);
    }
}

TEST(Programs, CopiesAloneAreAsFastAsMeasured) {
    // The numbers are copies a millisecond, from lab/shared-copy-engines ("alone").
    const std::vector<std::tuple<Direction, std::uint64_t, double>> measured{
        {Direction::to_gpu, 64 * mib, 0.8171}, {Direction::to_host, 64 * mib, 0.7814},
        {Direction::on_gpu, 64 * mib, 21.19},  {Direction::to_gpu, 51200, 184.3},
        {Direction::to_host, 51200, 186.1},    {Direction::on_gpu, 51200, 115.2}};
    for (const auto &[direction, bytes, rate] : measured) {
        Programs programs = on_h200({{.name = "a"}});
        const auto stream = programs.open_stream(0);
        for (int i = 0; i < 21; ++i)
            programs.copy(stream, direction, bytes);
        finish(programs);
        const Ns took = programs.operation(20).ended - programs.operation(0).ended;
        EXPECT_NEAR(20.0 * ms / static_cast<double>(took), rate, 0.02 * rate) << bytes;
    }
}

TEST(Programs, TheGraphicsEngineCopiesOneAtATime) {
    Programs programs = on_h200({{.name = "a"}});
    for (int i = 0; i < 2; ++i)
        programs.copy(programs.open_stream(0), Direction::on_gpu, 1024 * mib);
    finish(programs);
    EXPECT_EQ(overlap(programs.operation(0), programs.operation(1)), 0);
}

TEST(Programs, StreamsWaitForChannels) {
    EXPECT_EQ(at_once(9, {.name = "a"}, {}).size(), 8U);
    EXPECT_EQ(at_once(9, {.name = "a", .connections = 9}, {}).size(), 9U);
    EXPECT_EQ(at_once(6, {.name = "a", .connections = 2}, {}).size(), 2U);
    EXPECT_EQ(at_once(4, {.name = "a", .connections = 1}, {}).size(), 1U);
    EXPECT_EQ(at_once(6, {.name = "a", .connections = 2}, {.channels_limit = false}).size(), 6U);
}

TEST(Programs, StreamsWithAChannelStartAtOnce) {
    std::vector<Ns> began;
    at_once(32, {.name = "a", .connections = 32}, {}, &began);
    for (const Ns begin : began)
        EXPECT_EQ(begin, began.front());
}

TEST(Programs, AStreamWaitsUntilTheOthersWorkIsPlacedNotDone) {
    std::vector<Ns> began;
    at_once(9, {.name = "a"}, {}, &began);
    EXPECT_EQ(began[8], began[0] + 60 * ms) << "three kernels end before the last one is placed";
    // The kernels of the first stream are longer, so the tenth stream comes before the ninth.
    began.clear();
    at_once(10, {.name = "a"}, {}, &began);
    EXPECT_LT(began[9], began[8]);
}

/// Returns how many of a process's operations, of all kinds, end in the 100 ms while it is disabled
/// or unlisted.
unsigned ended_meanwhile(const Rules &rules, void (Programs::*change)(std::size_t, bool),
                         Ns *ended_after = nullptr) {
    Programs programs = on_h200({{.name = "a"}, {.name = "b"}}, rules);
    (programs.*change)(0, false);
    programs.advance(programs.now() + ms);
    std::vector<std::size_t> all;
    for (const Direction direction : {Direction::to_gpu, Direction::to_host, Direction::on_gpu})
        all.push_back(programs.copy(programs.open_stream(0), direction, mib));
    all.push_back(programs.launch(programs.open_stream(0), {.block = 100 * us}));
    const auto others = programs.launch(programs.open_stream(1), {.block = 100 * us});
    const Ns end = programs.now() + 100 * ms;
    while (programs.now() < end)
        programs.advance(end);
    EXPECT_TRUE(programs.done(others));
    unsigned ended = 0;
    for (const std::size_t one : all)
        ended += programs.done(one) ? 1 : 0;
    (programs.*change)(0, true);
    finish(programs);
    if (ended_after != nullptr)
        *ended_after = programs.now() - end;
    return ended;
}

TEST(Programs, NothingEndsWhileChannelsAreDisabled) {
    Ns after = 0;
    EXPECT_EQ(ended_meanwhile({}, &Programs::set_enabled, &after), 0U);
    EXPECT_LT(after, 3 * ms);
    EXPECT_EQ(ended_meanwhile({.disabled_stop = false}, &Programs::set_enabled), 4U);
}

TEST(Programs, UnlistedProcessesDoNotRun) {
    Ns after = 0;
    EXPECT_EQ(ended_meanwhile({}, &Programs::set_listed, &after), 0U);
    EXPECT_LT(after, 3 * ms);
    EXPECT_EQ(ended_meanwhile({.unlisted_stop = false}, &Programs::set_listed), 4U);
}

TEST(Programs, DisablingStopsAKernelInTheMiddle) {
    Programs programs = on_h200({{.name = "a"}});
    const auto kernel = programs.launch(programs.open_stream(0), {.block = 10 * ms});
    programs.advance(5 * ms);
    programs.set_enabled(0, false);
    EXPECT_FALSE(programs.wait(kernel, 50 * ms));
    programs.set_enabled(0, true);
    EXPECT_TRUE(programs.wait(kernel, 70 * ms));
    const auto pieces = ran(programs.operation(kernel));
    ASSERT_EQ(pieces.size(), 2U);
    EXPECT_LT(pieces[0].end, 6 * ms);
    EXPECT_GE(pieces[1].begin, 50 * ms);
}

/// Returns the time of a copy of 256 MiB to the GPU beside another task's kernel, over its time
/// alone.
double copy_beside_kernel(Api api, const Rules &rules) {
    double took[2];
    for (const bool beside : {false, true}) {
        Programs programs = on_h200({{.name = "computes"}, {.name = "copies", .api = api}}, rules);
        if (beside)
            programs.launch(programs.open_stream(0), {.blocks = 132, .block = 200 * ms});
        const auto copy = programs.copy(programs.open_stream(1), Direction::to_gpu, 256 * mib);
        EXPECT_TRUE(programs.wait(copy, patience));
        took[beside] = to_us(programs.operation(copy).ended - programs.operation(copy).submitted);
    }
    return took[1] / took[0];
}

TEST(Programs, ListsAreIndependent) {
    EXPECT_NEAR(copy_beside_kernel(Api::cuda, {}), 1, 0.01);
    EXPECT_NEAR(copy_beside_kernel(Api::cuda, {.lists_independent = false}), 2, 0.3);
}

TEST(Programs, GraphicsTakeTurnsWithCompute) {
    EXPECT_GT(copy_beside_kernel(Api::opengl, {}), 2.5);
    EXPECT_LT(copy_beside_kernel(Api::opengl, {.graphics_turns = false}), 1.1);
}

/// Returns the time of a copy by CUDA beside copies to the GPU by GRCE0, over its time alone.
double copy_beside_grce(Direction direction, const Rules &rules) {
    double took[2];
    for (const bool beside : {false, true}) {
        Programs programs = on_h200(
            {{.name = "a"}, {.name = "vk", .api = Api::vulkan, .copies = GraphicsCopies::by_grce}},
            rules);
        if (beside)
            programs.copy(programs.open_stream(1), Direction::to_gpu, 4096 * mib);
        programs.advance(ms);
        EXPECT_EQ(programs.busy({EngineType::lce, 0}), beside);
        const auto copy = programs.copy(programs.open_stream(0), direction, 256 * mib);
        EXPECT_TRUE(programs.wait(copy, patience));
        took[beside] = to_us(programs.operation(copy).ended - programs.operation(copy).submitted);
    }
    return took[1] / took[0];
}

TEST(Programs, CopyEnginesShareTheirPhysicalOnes) {
    EXPECT_NEAR(copy_beside_grce(Direction::to_gpu, {}), 2, 0.02);
    EXPECT_NEAR(copy_beside_grce(Direction::to_host, {}), 1, 0.02) << "by other physical ones";
    EXPECT_NEAR(copy_beside_grce(Direction::to_gpu, {.shared_pces = false}), 1, 0.02);
}

/// The wait of another task's small kernel beside kernels of four waves of blocks of 12 ms.
struct Waited {
    Ns small;
    std::size_t pieces; // pieces of the first block
};
Waited small_beside_large(ComputePreemption mode, const Rules &rules) {
    Programs programs = on_h200({{.name = "a"}, {.name = "b"}}, rules);
    programs.set_preemption(0, mode);
    const auto large = programs.open_stream(0);
    for (int i = 0; i < 2; ++i)
        programs.launch(large, {.blocks = 8 * 132, .threads = 1024, .block = 12 * ms});
    programs.advance(5 * ms);
    const auto small = programs.launch(programs.open_stream(1), {.block = 10 * us});
    finish(programs);
    const Operation &one = programs.operation(small);
    return {one.ended - one.submitted, programs.operation(0).blocks.front().ran.size()};
}

TEST(Programs, PreemptionByMode) {
    const Waited cilp = small_beside_large(ComputePreemption::cilp, {});
    EXPECT_LT(cilp.small, compute_slice + 500 * us);
    EXPECT_GT(cilp.pieces, 1U);
    const Waited cta = small_beside_large(ComputePreemption::cta, {});
    EXPECT_NEAR(to_us(cta.small), 7'000, 500) << "the rest of blocks of 12 ms";
    EXPECT_EQ(cta.pieces, 1U);
    const Waited wfi = small_beside_large(ComputePreemption::wfi, {});
    EXPECT_NEAR(to_us(wfi.small), 43'000, 500) << "the rest of a kernel of 48 ms, not of two";
    EXPECT_EQ(wfi.pieces, 1U);
    const Waited broken = small_beside_large(ComputePreemption::wfi, {.preemption_modes = false});
    EXPECT_EQ(broken.small, cilp.small);
}

TEST(Programs, ContextsInMemorySayHowTheyWereInterrupted) {
    Programs programs = on_h200({{.name = "a"}, {.name = "b"}});
    const auto count = [&programs](std::uint32_t offset) {
        const auto channel = programs.channels(0).front();
        const PhysicalAddress image = programs.gpu().driver().channels()[channel].context->address;
        return programs.gpu().memory().read_value({image.aperture, image.address + offset}, 4);
    };
    for (const std::size_t process : {0U, 1U})
        programs.launch(programs.open_stream(process), {.blocks = 64, .block = 20 * ms});
    programs.advance(10 * ms);
    EXPECT_GT(count(regs::ctxsw::num_cilp_save), 0U);
    EXPECT_EQ(count(regs::ctxsw::num_cta_save), 0U);
    EXPECT_EQ(count(regs::ctxsw::compute_preemption_options), 2U);
    programs.set_preemption(0, ComputePreemption::cta);
    EXPECT_EQ(count(regs::ctxsw::compute_preemption_options), 1U);
    finish(programs);
    EXPECT_EQ(count(regs::ctxsw::num_cta_save), 1U) << "when its blocks had ended";
}

/// Returns the time from the end of one task's slice to the start of the other's, when both hold
/// the same.
double switch_us(const Kernel &kernel, const Rules &rules) {
    Programs programs = on_h200({{.name = "a"}, {.name = "b"}}, rules);
    for (const std::size_t process : {0U, 1U})
        programs.launch(programs.open_stream(process), kernel);
    finish(programs);
    const auto one = ran(programs.operation(0));
    const auto other = ran(programs.operation(1));
    return to_us(one.at(1).begin - other.at(0).end);
}

TEST(Programs, SwitchesCostWhatWasMeasured) {
    // lab/context-switch: medians of the time without any block
    const unsigned sms = 132;
    const std::uint64_t shared = 224 << 10;
    const std::vector<std::pair<Kernel, double>> measured{
        {{.blocks = 1}, 152.3},
        {{.blocks = sms}, 154.3},
        {{.blocks = sms, .threads = 1024}, 187.7},
        {{.blocks = 2 * sms, .threads = 1024}, 219.1},
        {{.blocks = sms, .threads = 256, .registers = 218}, 195.8},
        {{.blocks = sms, .shared = shared}, 356.3},
        {{.blocks = sms, .threads = 256, .registers = 218, .shared = shared}, 254.1}};
    for (auto [kernel, took] : measured) {
        kernel.block = 10 * ms;
        EXPECT_NEAR(switch_us(kernel, {}), took, 0.02 * took);
        EXPECT_NEAR(switch_us(kernel, {.switch_costs = false}), 20, 1);
    }
}

TEST(Programs, ASwitchCostsWhatBothHold) {
    Programs programs = on_h200({{.name = "a"}, {.name = "b"}});
    programs.launch(programs.open_stream(0),
                    {.blocks = 132, .shared = 224 << 10, .block = 10 * ms});
    programs.launch(programs.open_stream(1), {.block = 10 * ms});
    finish(programs);
    const auto large = ran(programs.operation(0));
    const auto small = ran(programs.operation(1));
    // The small one comes first, when it holds nothing yet.
    EXPECT_NEAR(to_us(small.at(0).begin - large.at(0).end), (356 + 152) / 2, 5);
    EXPECT_NEAR(to_us(large.at(1).begin - small.at(0).end), (356 + 152) / 2, 5);
}

TEST(Programs, ATaskKeepsItsTurnFromOneEngineToTheNext) {
    Programs programs = on_h200(
        {{.name = "vk", .api = Api::vulkan, .copies = GraphicsCopies::by_grce}, {.name = "a"}});
    const auto stream = programs.open_stream(0);
    const auto first = programs.copy(stream, Direction::on_gpu, 64 * mib);
    const auto second = programs.copy(stream, Direction::to_gpu, mib);
    programs.launch(programs.open_stream(1), {.blocks = 4, .block = 20 * ms});
    finish(programs);
    EXPECT_LT(programs.operation(second).began, programs.operation(first).ended + 200 * us);
}

/// Returns the time of a copy of 51,200 bytes while another stream has so many copies of 64 MiB
/// queued, for 100 ms.
Ns small_copy(std::size_t queued, const Rules &rules, bool by_another_process = false) {
    Programs programs = on_h200({{.name = "a"}, {.name = "b"}}, rules);
    const auto large = programs.open_stream(by_another_process ? 1 : 0);
    const auto stream = programs.open_stream(0);
    std::size_t under_way = 0;
    std::optional<std::size_t> small;
    while (programs.now() < 100 * ms) {
        for (; under_way < queued; ++under_way)
            programs.copy(large, Direction::to_gpu, 64 * mib);
        if (!small && programs.now() > 10 * ms)
            small = programs.copy(stream, Direction::to_gpu, 51200);
        for (const std::size_t ended : programs.advance(programs.now() + 10 * ms + 300 * us))
            under_way -= programs.operation(ended).stream == large ? 1 : 0;
    }
    EXPECT_TRUE(programs.wait(*small, patience));
    return programs.operation(*small).ended - programs.operation(*small).submitted;
}

TEST(Programs, AQueueOfCopiesKeepsOthersOut) {
    EXPECT_LT(small_copy(0, {}), 20 * us);
    EXPECT_LT(small_copy(1, {}), 1300 * us) << "it gets in between";
    EXPECT_GT(small_copy(2, {}), 80 * ms) << "it waits until no more are queued";
    EXPECT_LT(small_copy(4, {}, true), 1300 * us) << "another process has its timeslices";
    EXPECT_LT(small_copy(4, {.copy_queues = false}), 50 * us);
}

TEST(Programs, DefaultTimeslices) {
    for (const bool kept : {true, false}) {
        const Programs programs = on_h200({{.name = "a"},
                                           {.name = "gl", .api = Api::opengl},
                                           {.name = "own", .compute_timeslice = 500 * us}},
                                          {.default_timeslices = kept});
        const auto of = [&programs](std::size_t process, std::size_t number) {
            return programs.gpu().plan().tsgs[programs.tsgs(process).at(number)];
        };
        EXPECT_EQ(of(0, 0).timeslice.duration(), kept ? compute_slice : copy_slice);
        EXPECT_EQ(of(0, 0).channels.size(), 8U);
        for (const std::size_t copies : {1U, 2U, 3U}) {
            EXPECT_EQ(of(0, copies).timeslice.duration(), copy_slice);
            EXPECT_EQ(of(0, copies).channels.size(), 4U);
        }
        EXPECT_EQ(of(1, 0).timeslice.duration(), copy_slice);
        EXPECT_NEAR(to_us(of(2, 0).timeslice.duration()), kept ? 500 : 1048.6, 4);
    }
}

/// Returns how many blocks of a kernel an SM holds, and how many SMs have some.
std::pair<std::size_t, std::size_t> placed(const Kernel &kernel) {
    Programs programs = on_h200({{.name = "a"}});
    programs.launch(programs.open_stream(0), kernel);
    finish(programs);
    std::map<unsigned, std::size_t> first; // blocks of the first wave
    for (const BlockRun &block : programs.operation(0).blocks)
        if (block.ran.front().begin == programs.operation(0).began)
            ++first[block.sm];
    return {std::ranges::max_element(first, {}, [](const auto &sm) { return sm.second; })->second,
            first.size()};
}

TEST(Programs, BlocksFillSmsBreadthFirst) {
    using Pair = std::pair<std::size_t, std::size_t>;
    EXPECT_EQ(placed({.blocks = 100, .block = ms}), Pair(1, 100));
    EXPECT_EQ(placed({.blocks = 133, .block = ms}), Pair(2, 132));
    EXPECT_EQ(placed({.blocks = 9999, .block = ms}), Pair(32, 132));
    EXPECT_EQ(placed({.blocks = 9999, .threads = 1024, .block = ms}), Pair(2, 132));
    EXPECT_EQ(placed({.blocks = 9999, .threads = 256, .registers = 128, .block = ms}),
              Pair(2, 132));
    EXPECT_EQ(placed({.blocks = 9999, .shared = 100 << 10, .block = ms}), Pair(2, 132));
    EXPECT_EQ(placed({.blocks = 9999, .shared = 227 << 10, .block = ms}), Pair(1, 132));
}

TEST(Programs, AStreamIsInOrderOverAllItsChannels) {
    Programs programs = on_h200({{.name = "a"}});
    const auto stream = programs.open_stream(0);
    programs.copy(stream, Direction::to_gpu, mib);
    programs.launch(stream, {.block = ms});
    programs.copy(stream, Direction::on_gpu, mib);
    programs.copy(stream, Direction::to_host, mib);
    finish(programs);
    for (const std::size_t i : {1U, 2U, 3U})
        EXPECT_GE(programs.operation(i).began, programs.operation(i - 1).ended) << i;
}

TEST(Programs, BlocksByTheClockEndWhileOthersHaveTheGpu) {
    Programs programs = on_h200({{.name = "a"}, {.name = "b"}});
    for (const std::size_t process : {0U, 1U})
        programs.launch(programs.open_stream(process), {.block = 20 * ms, .by_clock = true});
    finish(programs);
    for (const std::size_t i : {0U, 1U})
        EXPECT_LT(programs.operation(i).ended, 20 * ms + compute_slice + 3 * ms);
}

TEST(Programs, RegistersMayBeReadInBetween) {
    Programs programs = on_h200({{.name = "a"}, {.name = "b"}});
    const auto kernel = programs.launch(programs.open_stream(0), {.block = 300 * us});
    programs.launch(programs.open_stream(1), {.block = 3 * ms});
    while (programs.now() < 10 * ms) {
        for (int i = 0; i < 100; ++i)
            programs.gpu().bar_read(Bar::registers, 0, 4);
        programs.advance(programs.now());
    }
    EXPECT_NEAR(to_us(programs.operation(kernel).ended), 162 + 300, 100);
    finish(programs);

    // A copy that ends between two reads has ended before the next copy is asked for.
    const auto stream = programs.open_stream(0);
    const auto first = programs.copy(stream, Direction::to_gpu, mib);
    programs.advance(programs.now() + 10 * us);
    for (int i = 0; i < 100; ++i)
        programs.gpu().bar_read(Bar::registers, 0, 4);
    const Ns asked = programs.now();
    const auto second = programs.copy(stream, Direction::to_gpu, mib);
    EXPECT_TRUE(programs.done(first));
    EXPECT_GE(programs.operation(second).began, asked);
    finish(programs);
    EXPECT_EQ(programs.operation(first).progress.size(), 1U);
}

TEST(Programs, ProcessesHaveChannels) {
    const Programs programs = on_h200({{.name = "a"}, {.name = "b", .connections = 3}});
    EXPECT_EQ(programs.channels(0).size(), 20U) << "as of a process on an H100";
    EXPECT_EQ(programs.channels(1).size(), 15U);
    for (const std::size_t channel : programs.channels(1))
        EXPECT_EQ(programs.gpu().plan().channels[channel].task, "b");
}

TEST(Programs, ImpossibleOperationsAreRefused) {
    Programs programs = on_h200({{.name = "a"}});
    const auto stream = programs.open_stream(0);
    const std::string large =
        config_error([&] { programs.launch(stream, {.shared = 228 << 10, .block = ms}); });
    EXPECT_NE(large.find("does not fit on an SM"), std::string::npos);
    config_error([&] { programs.launch(stream, {.blocks = 0}); });
    config_error([&] { programs.copy(stream, Direction::to_gpu, 0); });
    EXPECT_EQ(programs.operations(), 0U);
    config_error([] { Programs(board("gtx980"), {{.name = "a"}}); });
}

} // namespace
} // namespace nvmodel::test
