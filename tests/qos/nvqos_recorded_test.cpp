// SPDX-License-Identifier: MIT OR GPL-2.0
// The requests that nvqos makes while tasks come, go and get other goals, on one GPU and on two,
// compared with a recording of an earlier run. A change that is to leave what nvqos does as it is
// leaves these requests as they are.
//
// A line of a recording is `TIME PID timeslice US`, or `TIME PID channel NUMBER on|off`, with the
// virtual time in ms at which the step that made the request ended. Requests of one step are made
// by several keepers side by side, so they are sorted by the client that they change.
//
// The same runs are recorded by --decisions, and a replay of the record decides the same.
#include "kept.hpp"
#include "replay.hpp"

#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <unistd.h>

namespace served {
namespace {

using qos::ms;

class Recorded : public Kept {
  protected:
    void note(const std::string &what) {
        lines.push_back(fmt::format(
            "{:.3f} {}", static_cast<double>(sim.now()) / static_cast<double>(ms), what));
    }

    /// Adds the requests that were made since the last call.
    void note_requests() {
        const auto all = kernel.changes();
        std::vector<driver_test::StandIn::Change> fresh(
            all.begin() + static_cast<std::ptrdiff_t>(noted), all.end());
        noted = all.size();
        std::ranges::stable_sort(fresh, {}, &driver_test::StandIn::Change::client);
        for (const auto &change : fresh) {
            if (change.command == driver_test::rm::SetTimeslice::command)
                note(fmt::format("{} timeslice {}", pids_of.at(change.client), change.value));
            else if (change.command == driver_test::rm::DisableChannels::command)
                note(fmt::format("{} channel {:x} {}", pids_of.at(change.client), change.object,
                                 change.value ? "on" : "off"));
        }
    }

    void keep_and_note(Ns end) {
        while (sim.now() < end) {
            keep_until(std::min(end, sim.now() + std::max<Ns>(gpu_goals->wait(), 100 * qos::us)));
            note_requests();
        }
    }

    nvqos::Goals goals(const std::vector<std::string> &words) const {
        nvqos::Goals made;
        for (const std::string &word : words)
            EXPECT_TRUE(nvqos::add_word(word, made));
        return made;
    }

    void compare(const std::string &name) const {
        const std::string path = std::string(GOLDEN_FILES) + "/../data/nvqos_requests/" + name;
        std::ifstream file(path);
        const std::string recorded{std::istreambuf_iterator<char>(file), {}};
        std::string made;
        for (const std::string &line : lines)
            made += line + "\n";
        if (made == recorded)
            return;
        const std::string own = testing::TempDir() + "nvqos_requests_" + name;
        std::ofstream(own) << made;
        ADD_FAILURE() << "the requests of this run, in " << own << ", differ from " << path
                      << "; if nvqos is to make them, copy the first file over the second";
    }

    /// Begins to record decisions, and returns the record.
    std::shared_ptr<nvqos::Decisions> record() {
        auto opened = nvqos::Decisions::open(
            path_of_record(), [this](const std::string &text) { said.push_back(text); });
        EXPECT_TRUE(opened) << opened.error().sentence;
        return opened ? std::move(*opened) : nullptr;
    }

    /// Replays the record of a run that has ended, which has at least so many steps and pauses.
    void expect_same_again(std::uint64_t steps, std::uint64_t pauses) const {
        replay::Replay run;
        std::ifstream file(path_of_record());
        run.take(file);
        EXPECT_EQ(run.differences(), std::vector<std::string>());
        EXPECT_GE(run.steps(), steps);
        EXPECT_GE(run.pauses(), pauses);
        ::unlink(path_of_record().c_str());
    }

    static std::string path_of_record() {
        return testing::TempDir() + "nvqos_decisions_" +
               testing::UnitTest::GetInstance()->current_test_info()->name() + ".ndjson";
    }

    void run_on_one_gpu(const std::shared_ptr<nvqos::Decisions> &decisions);
    void run_on_two_gpus(const std::shared_ptr<nvqos::Decisions> &decisions);

    std::vector<std::string> lines;
    std::map<std::uint32_t, std::uint32_t> pids_of = {{first, 557}, {second, 558}}; ///< by client
    std::size_t noted = 0; ///< of kernel.changes()
};

void Recorded::run_on_one_gpu(const std::shared_ptr<nvqos::Decisions> &decisions) {
    sim.set_bursts(0, simulated::always());
    sim.set_bursts(1, simulated::always());
    start({"557=share:30%", "command:two=cap:20%", "command:third=best-effort:2"},
          {.decisions = decisions});
    ASSERT_TRUE(gpu_goals);
    note("goals begin");
    keep_and_note(600 * ms);
    add_third(500, simulated::always());
    pids_of[third] = 500;
    note("500 comes"); // the lowest number: it is paused to be seen before the others are asked
    keep_and_note(1000 * ms);
    note("goals that cannot be kept");
    EXPECT_FALSE(gpu_goals->set_goals(goals({"557=share:70%", "558=share:60%"})));
    note_requests();
    keep_and_note(1100 * ms);
    note("other goals");
    ASSERT_TRUE(
        gpu_goals->set_goals(goals({"500=latency,cap:40%", "557=share:30%", "others=cap:50%"})));
    note_requests();
    keep_and_note(1500 * ms);
    note("switches are lost");
    kernel.dropped += 10;
    keep_and_note(1700 * ms);
    note("558 ends");
    kernel.end_process(558);
    sim.stop(1);
    keep_and_note(2000 * ms);
    note("no goals");
    ASSERT_TRUE(gpu_goals->set_goals({}));
    note_requests();
    keep_and_note(2200 * ms);
    note("goals again");
    ASSERT_TRUE(gpu_goals->set_goals(goals({"557=timeslice:3ms", "500=cap:25%"})));
    keep_and_note(2500 * ms);
    note("the end");
    gpu_goals.reset();
    EXPECT_TRUE(driver_test::comes_true([&] { return keepers().empty(); }));
    note_requests();
}

TEST_F(Recorded, RequestsOnOneGpuAreTheSame) {
    run_on_one_gpu(nullptr);
    compare("one_gpu.txt");
}

TEST_F(Recorded, DecisionsOnOneGpuAreReplayed) {
    const auto decisions = record();
    run_on_one_gpu(decisions);
    decisions->finish();
    expect_same_again(50, 5);
    compare("one_gpu.txt");
}

/// The stand-in has tasks on its first GPU alone. What is asked for there does not depend on the
/// goals of the second GPU, on which nothing is asked for.
void Recorded::run_on_two_gpus(const std::shared_ptr<nvqos::Decisions> &decisions) {
    kernel.add_card(1, 2);
    sim.set_bursts(0, simulated::always());
    sim.set_bursts(1, simulated::always());
    const auto plan = std::make_shared<nvqos::MachinePlan>();
    start({"557=cap:30%", "command:elsewhere=share:20%"}, {.plan = plan, .decisions = decisions});
    ASSERT_TRUE(gpu_goals);
    auto made = nvqos::GpuGoals::start(nvdebug::Gpu(bench.tree(), 1), asked,
                                       {.patience = driver_test::plenty,
                                        .beat = std::chrono::milliseconds(250),
                                        .clock = [this] { return sim.now(); },
                                        .plan = plan,
                                        .decisions = decisions,
                                        .searches = std::launch::deferred},
                                       [this](const std::string &text) { said.push_back(text); });
    ASSERT_TRUE(made) << made.error().sentence;
    std::unique_ptr<nvqos::GpuGoals> second_gpu = std::move(*made);
    for (const Ns end : {500 * ms, 1000 * ms, 1500 * ms}) {
        while (sim.now() < end) {
            const Ns wait = std::min(gpu_goals->wait(), second_gpu->wait());
            keep_until(std::min(end, sim.now() + std::max<Ns>(wait, 100 * qos::us)));
            ASSERT_TRUE(second_gpu->step());
            note_requests();
        }
        note("other goals on GPU 1");
        ASSERT_TRUE(second_gpu->set_goals(
            goals({fmt::format("command:elsewhere=share:{}%", end / ms / 30), "others=cap:40%"})));
        note_requests();
    }
    note("the end");
    second_gpu.reset();
    gpu_goals.reset();
    EXPECT_TRUE(driver_test::comes_true([&] { return keepers().empty(); }));
    note_requests();
}

TEST_F(Recorded, RequestsOnTwoGpusAreTheSame) {
    run_on_two_gpus(nullptr);
    compare("two_gpus.txt");
}

TEST_F(Recorded, DecisionsOnTwoGpusAreReplayed) {
    const auto decisions = record();
    run_on_two_gpus(decisions);
    decisions->finish();
    expect_same_again(50, 3);
    compare("two_gpus.txt");
}

} // namespace
} // namespace served
