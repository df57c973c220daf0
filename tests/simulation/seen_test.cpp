// SPDX-License-Identifier: MIT OR GPL-2.0
// Scenarios that are made of turns: the turns come from other scenarios, so that the truth is known.
#include "jobs.hpp"
#include "lib/simulation/machine.hpp"
#include "lib/simulation/result.hpp"
#include "lib/simulation/scenario_read.hpp"
#include "lib/simulation/seen.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace {

using simulation::Seen;
using simulation::SeenGpu;
using test_jobs::job;
using test_jobs::kernel;
using test_jobs::think;

constexpr qos::Ns record_end = 10 * qos::second;

/// Records turns as NVIDIA's driver does.
class Recorder : public simulation::Observer {
  public:
    explicit Recorder(const simulation::Scenario &scenario) {
        for (std::size_t gpu = 0; gpu < scenario.gpus.count; gpu++)
            seen.gpus.push_back({gpu, 0, scenario.duration, {}});
        for (std::size_t n = 0; n < scenario.jobs.size(); n++) {
            seen.tasks.push_back("task " + std::to_string(n));
            for (const std::size_t gpu : scenario.jobs[n].gpus)
                seen.gpus[gpu].timeslices[n] =
                    scenario.jobs[n].timeslice_us.value_or(scenario.gpus.timeslice_us) *
                    scenario.gpus.timeslice_unit;
        }
    }
    void turn(const simulation::RankPlace &where, qos::Ns begin, qos::Ns end, bool whole) override {
        seen.gpus[where.gpu].turns.push_back({where.job, begin, end, whole});
    }
    Seen seen;
};

Seen record_of(simulation::Scenario scenario) {
    scenario.has_control = false;
    Recorder recorder(scenario);
    simulation::Machine(scenario, nullptr, &recorder).run();
    return recorder.seen;
}

simulation::Scenario of(const std::vector<simulation::Job> &jobs, std::size_t gpus = 1) {
    simulation::Scenario made = test_jobs::scenario(jobs, gpus);
    made.duration = record_end;
    for (simulation::Job &one : made.jobs)
        one.cpu_jitter = 5 * qos::point;
    return made;
}

simulation::Job with_arrivals(simulation::Job one, qos::Ns mean) {
    one.mean_gap = mean;
    return one;
}

simulation::Job with_timeslice(simulation::Job one, std::int64_t us) {
    one.timeslice_us = us;
    return one;
}

struct Load {
    const char *name;
    simulation::Scenario scenario;
    /// How far the part that a task would use alone may be from the truth, in points; empty: the
    /// turns do not show it.
    std::optional<int> demand = {};
};

void PrintTo(const Load &load, std::ostream *out) {
    *out << load.name;
}

std::vector<Load> loads() {
    const auto decode = job("decode", {0}, {kernel(9000), think(900)});
    const auto loop = job("loop", {0}, {kernel(7200), think(500)});
    const auto training = job("training", {0}, {think(4000), kernel(70'000)});
    const auto busy = job("busy", {0}, {kernel(50'000)});
    return {
        {"BusyTasksOfManyTimeslices",
         of({with_timeslice(job("a", {0}, {kernel(50'000)}), 1000), busy,
             with_timeslice(job("c", {0}, {kernel(50'000)}), 4000)}),
         0},
        {"DecodeBesideTraining", of({decode, training}), 3},
        {"TwoLoops", of({decode, loop}), 4},
        {"ThreeLoops", of({decode, loop, job("third", {0}, {kernel(3000), think(6000)})}), 4},
        {"LoopBesideBusy", of({loop, busy}), 8},
        {"ShortBursts", of({job("short", {0}, {kernel(300), think(2000)}), busy})},
        {"TinyPauses", of({job("tiny", {0}, {kernel(1500), think(20)}), busy})},
        {"ServiceBesideBusy",
         of({with_arrivals(job("service", {0}, {kernel(3000)}), 20 * qos::ms), busy}), 4},
        {"ServiceBesideTraining",
         of({with_arrivals(job("service", {0}, {kernel(3000)}), 20 * qos::ms), training}), 6},
        {"TwoServices", of({with_arrivals(job("one", {0}, {kernel(3000)}), 20 * qos::ms),
                            with_arrivals(job("two", {0}, {kernel(6000)}), 40 * qos::ms)})},
        {"LongPauses", of({job("rare", {0}, {kernel(200'000), think(1'500'000)}), training}), 6},
        {"TwoGpus",
         of({job("wide", {0, 1}, {kernel(9000), think(2000)}), job("left", {0}, {kernel(50'000)}),
             job("right", {1}, {kernel(5000), think(5000)})},
            2)},
    };
}

class SeenLoad : public testing::TestWithParam<Load> {};

qos::Part held_of(const SeenGpu &gpu, std::size_t task) {
    qos::Ns held = 0;
    for (const simulation::SeenTurn &turn : gpu.turns)
        held += turn.task == task ? turn.end - turn.begin : 0;
    return qos::scaled(held, qos::whole, gpu.known());
}

TEST_P(SeenLoad, HasThePartsThatWereSeen) {
    const Seen seen = record_of(GetParam().scenario);
    const simulation::Model model = simulation::model_of(seen, "again", {});
    const simulation::Result result = simulation::simulate(model.scenario);
    for (const simulation::Estimate &one : model.estimates)
        for (const auto &gpu : result.jobs[one.task].gpus)
            if (gpu.gpu == one.gpu) {
                EXPECT_EQ(gpu.got, one.simulated);
                EXPECT_EQ(one.seen, held_of(seen.gpus[gpu.gpu], one.task));
                EXPECT_NEAR(gpu.got, one.seen, 3 * qos::point) << seen.tasks[one.task];
            }
    EXPECT_LE(model.worst(), 3 * qos::point);
}

TEST_P(SeenLoad, HasTheDemandOfTheTasks) {
    if (!GetParam().demand)
        return;
    simulation::Scenario truth = GetParam().scenario;
    truth.has_control = false;
    const simulation::Model model = simulation::model_of(record_of(truth), "again", {});
    const auto found = simulation::simulate(model.scenario), real = simulation::simulate(truth);
    for (std::size_t n = 0; n < real.jobs.size(); n++)
        EXPECT_NEAR(found.jobs[n].gpus[0].got_alone, real.jobs[n].gpus[0].got_alone,
                    *GetParam().demand * qos::point)
            << real.jobs[n].name;
}

INSTANTIATE_TEST_SUITE_P(Loads, SeenLoad, testing::ValuesIn(loads()),
                         [](const auto &load) { return load.param.name; });

Seen decode_beside_training() {
    for (Load &load : loads())
        if (load.name == std::string_view("DecodeBesideTraining"))
            return record_of(load.scenario);
    throw std::logic_error("the load is gone");
}

TEST(Seen, ScenarioPredictsWhatAGoalDoes) {
    const auto with_goal = [](simulation::Scenario scenario) {
        scenario.has_control = true;
        scenario.jobs[0].goal = {.aim = qos::Aim::share, .part = 70 * qos::point};
        return simulation::simulate(scenario);
    };
    simulation::Scenario truth;
    for (Load &load : loads())
        if (load.name == std::string_view("DecodeBesideTraining"))
            truth = load.scenario;
    const auto model = simulation::model_of(decode_beside_training(), "again", {});
    const auto predicted = with_goal(model.scenario), real = with_goal(truth);
    for (std::size_t n = 0; n < 2; n++)
        EXPECT_NEAR(predicted.jobs[n].got, real.jobs[n].got, 5 * qos::point);
}

TEST(Seen, TimeslicesAreFoundInTurnsWhereNoneIsKnown) {
    Seen seen = record_of(loads()[0].scenario);
    seen.gpus[0].timeslices.clear();
    const auto model = simulation::model_of(seen, "again", {});
    constexpr qos::Ns expected[] = {1'024'000, 2'048'000, 4'096'000};
    for (std::size_t n = 0; n < 3; n++) {
        EXPECT_NEAR(model.estimates[n].timeslice, expected[n], 30'000);
        EXPECT_FALSE(model.estimates[n].is_timeslice_known);
    }
    EXPECT_LE(model.worst(), 3 * qos::point);
}

TEST(Seen, CostsAreThoseOfTheTurns) {
    simulation::Scenario scenario = loads()[0].scenario;
    scenario.gpus.switching = 200 * qos::us;
    scenario.gpus.late = 60 * qos::us;
    const auto model = simulation::model_of(record_of(scenario), "again", {});
    EXPECT_EQ(model.scenario.gpus.switching, 200 * qos::us);
    EXPECT_EQ(model.scenario.gpus.late, 60 * qos::us);
    EXPECT_EQ(model.scenario.gpus.resume, simulation::Gpus().resume);
}

TEST(Seen, TimeWithoutTurnsThatWereLostDoesNotCount) {
    const Seen whole = decode_beside_training();
    Seen holed = whole;
    SeenGpu &gpu = holed.gpus[0];
    gpu.holes = {{2 * qos::second, 4 * qos::second}, {5 * qos::second, 6 * qos::second}};
    std::erase_if(gpu.turns, [&](const simulation::SeenTurn &turn) {
        return std::ranges::any_of(gpu.holes, [&](const SeenGpu::Hole &hole) {
            return turn.begin < hole.end && turn.end > hole.begin;
        });
    });
    EXPECT_EQ(gpu.known(), 7 * qos::second);
    const auto of_whole = simulation::model_of(whole, "again", {}),
               of_holed = simulation::model_of(holed, "again", {});
    for (std::size_t n = 0; n < 2; n++) {
        EXPECT_NEAR(of_holed.estimates[n].seen, of_whole.estimates[n].seen, qos::point);
        const qos::Ns twentieth = of_whole.estimates[n].work / 20;
        EXPECT_NEAR(of_holed.estimates[n].work, of_whole.estimates[n].work, twentieth);
    }
}

TEST(Seen, NoBurstSpansTurnsThatWereLost) {
    const Seen whole = decode_beside_training();
    constexpr qos::Ns lost = 2 * qos::second;
    for (qos::Ns begin = qos::second; begin < qos::second + 40 * qos::ms; begin += qos::ms) {
        SeenGpu gpu = whole.gpus[0];
        gpu.holes = {{begin, begin + lost}};
        std::erase_if(gpu.turns, [&](const simulation::SeenTurn &turn) {
            return turn.begin < begin + lost && turn.end > begin;
        });
        for (const auto &[number, task] : simulation::bursts_of(gpu, 2 * qos::ms).tasks)
            for (const simulation::Burst &burst : task.bursts)
                EXPECT_LT(burst.pause, lost / 2) << number << ", lost from " << begin;
    }
}

TEST(Seen, ProgramHasTheMeansOfAllBursts) {
    for (const Load &load : loads()) {
        const auto model = simulation::model_of(record_of(load.scenario), "again", {});
        const simulation::Estimate &first = model.estimates[0];
        if (first.pause == 0)
            continue;
        qos::Ns work = 0, pause = 0;
        for (const simulation::Item &item : model.scenario.jobs[0].program(0))
            (item.kind == simulation::Item::Kind::think ? pause : work) += item.time;
        const auto count = static_cast<qos::Ns>(model.scenario.jobs[0].program(0).size()) / 2;
        const qos::Ns mean_work = work / count, mean_pause = pause / count,
                      work_error = first.work / 100 + qos::us,
                      pause_error = first.pause / 100 + qos::us;
        EXPECT_NEAR(mean_work, first.work, work_error) << load.name;
        EXPECT_NEAR(mean_pause, first.pause, pause_error) << load.name;
    }
}

TEST(Seen, PartsOfATurnAreOneTurn) {
    const Seen whole = decode_beside_training();
    SeenGpu parts = whole.gpus[0];
    parts.turns.clear();
    for (const simulation::SeenTurn &turn : whole.gpus[0].turns) {
        const qos::Ns middle = (turn.begin + turn.end) / 2;
        parts.turns.push_back({turn.task, turn.begin, middle, turn.whole});
        parts.turns.push_back({turn.task, middle, turn.end, turn.whole});
    }
    const auto expected = simulation::bursts_of(whole.gpus[0], 2 * qos::ms),
               found = simulation::bursts_of(parts, 2 * qos::ms);
    for (const auto &[number, task] : expected.tasks) {
        EXPECT_EQ(found.tasks.at(number).bursts.size(), task.bursts.size());
        EXPECT_EQ(found.tasks.at(number).held, task.held);
    }
}

TEST(Seen, TaskThatCameLateHasThePartThatItHad) {
    simulation::Scenario scenario = loads()[0].scenario;
    scenario.jobs[2].start = 6 * qos::second;
    const auto model = simulation::model_of(record_of(scenario), "again", {});
    EXPECT_LT(model.estimates[2].seen, 25 * qos::point);
    EXPECT_LE(model.worst(), 3 * qos::point);
}

TEST(Seen, TaskOnTwoGpusIsNoGang) {
    const auto model = simulation::model_of(record_of(loads().back().scenario), "again", {});
    const auto read =
        simulation::read_scenario(simulation::text_of(model.scenario), [](std::string_view) {
            return tl::expected<qos::Goal, std::string>(qos::Goal());
        });
    ASSERT_TRUE(read) << read.error();
    ASSERT_EQ(read->jobs[0].ranks(), 2U);
    EXPECT_FALSE(read->jobs[0].gang);
    EXPECT_FALSE(model.scenario.jobs[0].gang);
}

TEST(Seen, TextIsReadAsTheSameScenario) {
    for (const Load &load : loads()) {
        const auto model = simulation::model_of(record_of(load.scenario), "again \"\xff", {});
        const auto read =
            simulation::read_scenario(simulation::text_of(model.scenario), [](std::string_view) {
                return tl::expected<qos::Goal, std::string>(qos::Goal());
            });
        ASSERT_TRUE(read) << read.error();
        const auto once = simulation::simulate(*read), again = simulation::simulate(model.scenario);
        EXPECT_EQ(simulation::json_of(once), simulation::json_of(again)) << load.name;
    }
}

} // namespace
