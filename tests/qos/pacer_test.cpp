// SPDX-License-Identifier: MIT OR GPL-2.0
// Speeds kept by launches, of simulated tasks that run on a GPU at the same time.
#include "lib/qos/pacer.hpp"

#include <gtest/gtest.h>

namespace {

using namespace qos;

struct PacedTask {
    Ns length;       ///< of a launch, alone
    double together; ///< its speed while another one runs, 0 to 1; 0: they divide the GPU
    int queued = 4;  ///< launches that go on when it is held
    bool works = true;
    double alone = 1;   ///< its speed alone: what disturbs it makes it less
    unsigned batch = 1; ///< so many are seen to end at once
    double done = 0;    ///< launches
    Launched seen = {};
};

/// The first tasks are tenants; the last one, if there are more than goals, has no goal.
class PacedGpu {
  public:
    PacedGpu(std::vector<Part> goals, std::vector<PacedTask> given)
        : tasks(std::move(given)), pacer(goals, 0), goals_(std::move(goals)) {}

    void until(Ns end) {
        for (; now < end; now += 100 * us) {
            run();
            if (now % (4 * ms) == 0)
                step();
        }
    }

    /// Of its speed alone, in percent, from then on.
    void mark() {
        marked_ = now;
        marks_.clear();
        for (PacedTask &task : tasks)
            marks_.push_back(task.done);
    }
    double percent(std::size_t task) const {
        return 100 * (tasks[task].done - marks_[task]) * static_cast<double>(tasks[task].length) /
               static_cast<double>(now - marked_);
    }

    std::vector<PacedTask> tasks;
    Pacer pacer;
    Ns now = 0;
    bool counts = true; ///< what ends shows the speed alone of the one that is looked at

  private:
    bool is_held(std::size_t n) const {
        return n < goals_.size() ? pacer.holds(n) : pacer.holds_others();
    }

    bool launches(std::size_t n) const { return tasks[n].works && !is_held(n); }

    bool runs(std::size_t n) const {
        const PacedTask &task = tasks[n];
        return launches(n) || task.done < static_cast<double>(task.seen.launched);
    }

    void run() {
        std::size_t running = 0;
        for (std::size_t n = 0; n < tasks.size(); n++)
            running += runs(n);
        for (std::size_t n = 0; n < tasks.size(); n++) {
            PacedTask &task = tasks[n];
            if (!runs(n))
                continue;
            const double shared =
                task.together > 0 ? task.together : 1 / static_cast<double>(running);
            const double speed = running > 1 ? shared : task.alone;
            const auto before = static_cast<std::uint64_t>(task.done);
            task.done += speed * 100e3 / static_cast<double>(task.length);
            if (!launches(n))
                task.done = std::min(task.done, static_cast<double>(task.seen.launched));
            const auto ended = static_cast<std::uint64_t>(task.done);
            if (ended != before && (!launches(n) || ended % task.batch == 0)) {
                task.seen.ended = ended;
                task.seen.ended_at = now;
            }
            if (launches(n) && ended % task.batch == 0)
                task.seen.launched = ended + static_cast<std::uint64_t>(task.queued);
        }
    }

    void step() {
        std::vector<Launched> seen;
        bool drained = true;
        for (std::size_t n = 0; n < tasks.size(); n++) {
            if (n < goals_.size())
                seen.push_back(tasks[n].seen);
            drained = drained && (!is_held(n) || tasks[n].seen.ended == tasks[n].seen.launched);
        }
        const bool others = tasks.size() > goals_.size() && tasks.back().works;
        pacer.step(now, seen, drained, others, counts);
    }

    const std::vector<Part> goals_;
    Ns marked_ = 0;
    std::vector<double> marks_;
};

constexpr Ns kernel = 200 * us;

/// What the second one can have at most where the first has its goal: times in which both run, and
/// one of them alone.
double most(double goal, double first, double second) {
    return first >= goal ? (first - goal) / first + second * goal / first
                         : second * (1 - goal) / (1 - first);
}

TEST(Pacer, KeepsSpeedsAndLeavesTheRest) {
    for (const auto &[first, second] : {std::pair{.5, .5}, {.95, .95}, {.87, .15}, {.2, .6}})
        for (const Part goal : {50 * point, 70 * point, 90 * point}) {
            PacedGpu gpu({goal}, {{kernel, first}, {kernel, second}});
            gpu.until(1 * qos::second);
            gpu.mark();
            gpu.until(6 * qos::second);
            const double percent = static_cast<double>(goal) / point;
            SCOPED_TRACE(testing::Message() << first << " " << second << " " << percent);
            EXPECT_GE(gpu.percent(0), .995 * percent);
            EXPECT_LE(gpu.percent(0), 1.04 * percent);
            EXPECT_GE(gpu.percent(1), 90 * most(percent / 100, first, second) - 3);
            EXPECT_NEAR(gpu.pacer.alone(0), 5000, 25);
            EXPECT_NEAR(static_cast<double>(*gpu.pacer.speed(0)) / point, gpu.percent(0), 2);
        }
}

TEST(Pacer, KeepsTwoSpeedsAtOnce) {
    PacedGpu gpu({40 * point, 30 * point}, {{kernel, 0}, {5 * kernel, 0}, {kernel, 0}});
    gpu.until(1 * qos::second);
    gpu.mark();
    gpu.until(6 * qos::second);
    EXPECT_NEAR(gpu.percent(0), 41, 2);
    EXPECT_NEAR(gpu.percent(1), 31, 2);
    EXPECT_GE(gpu.percent(2), 15);
}

TEST(Pacer, HoldsNobodyForTheGoodOfNobody) {
    PacedGpu gpu({50 * point}, {{kernel, .5}});
    gpu.until(1 * qos::second);
    gpu.mark();
    gpu.until(3 * qos::second);
    EXPECT_NEAR(gpu.percent(0), 100, .1);
    // A neighbour that has no work is none.
    PacedGpu other({50 * point}, {{kernel, .5}, {kernel, .5, 4, false}});
    other.until(1 * qos::second);
    other.mark();
    other.until(3 * qos::second);
    EXPECT_NEAR(other.percent(0), 100, .1);
    // One that comes then has its part at once.
    other.tasks[1].works = true;
    other.mark();
    other.until(3 * qos::second + 200 * ms);
    EXPECT_GE(other.tasks[1].done * kernel, 80 * ms);
}

TEST(Pacer, OwesNothingForTimeWithoutWork) {
    PacedGpu gpu({50 * point}, {{kernel, .5}, {kernel, .5}});
    gpu.until(2 * qos::second);
    gpu.tasks[0].works = false;
    gpu.until(2 * qos::second + 100 * ms);
    gpu.mark();
    gpu.until(4 * qos::second);
    EXPECT_NEAR(gpu.percent(1), 100, 1);
    gpu.tasks[0].works = true;
    gpu.mark();
    gpu.until(4 * qos::second + 500 * ms);
    // 100 ms at most are owed.
    EXPECT_GE(gpu.percent(1), 25);
}

TEST(Pacer, AFalseLookDoesNotStarveTheOthers) {
    PacedGpu gpu({90 * point}, {{kernel, .5, 4, true, 1.5}, {kernel, .5}});
    gpu.until(5 * qos::second);
    ASSERT_NEAR(gpu.pacer.alone(0), 7500, 75);
    // Whatever it was, it will not be so fast again.
    gpu.tasks[0].alone = 1;
    gpu.until(7 * qos::second);
    gpu.mark();
    gpu.until(9 * qos::second);
    EXPECT_NEAR(gpu.pacer.alone(0), 5000, 25);
    EXPECT_NEAR(gpu.percent(0), 91, 2);
    EXPECT_GE(gpu.percent(1), 6);
}

TEST(Pacer, HoldsNobodyBetweenTwoCounts) {
    // The program waits for so many launches at a time, and those that ended are seen when it
    // goes on.
    for (const unsigned batch : {1, 16, 50, 80})
        for (const double first : {.99, .95, .6}) {
            PacedGpu gpu({90 * point},
                         {{kernel, first, static_cast<int>(2 * batch)}, {kernel, .6, 32}});
            gpu.tasks[0].batch = batch;
            gpu.until(2 * qos::second);
            gpu.mark();
            gpu.until(5 * qos::second);
            SCOPED_TRACE(testing::Message() << batch << " " << first);
            EXPECT_GE(gpu.percent(0), 89);
            EXPECT_LE(gpu.percent(0), 93);
            EXPECT_GE(gpu.percent(1), 97 * most(.9, first, .6) - 1);
        }
}

TEST(Pacer, WaitsForWhatTheOthersHaveQueued) {
    // 50 ms of work, in which the tenant has a fifth of its speed.
    PacedGpu gpu({80 * point}, {{kernel, .2}, {kernel, .2, 50}});
    gpu.until(1 * qos::second);
    EXPECT_NEAR(gpu.pacer.alone(0), 5000, 25);
}

TEST(Pacer, LetsATenantGoBeforeItIsBehind) {
    PacedGpu gpu({90 * point}, {{kernel, .99, 1}, {kernel, .6}});
    gpu.until(2 * qos::second);
    // Its time alone that has been done, beyond the goal's.
    double least = 0, most = 0;
    const double before = gpu.tasks[0].done;
    for (Ns end = 2 * qos::second; end < 4 * qos::second; end += ms) {
        gpu.until(end);
        const double done = (gpu.tasks[0].done - before) * static_cast<double>(kernel);
        const double ahead = done - .9045 * static_cast<double>(end - 2 * qos::second);
        least = std::min(least, ahead);
        most = std::max(most, ahead);
    }
    // The band, and what a step and the launches in flight are beyond it.
    EXPECT_LE(most - least, 9 * ms);
}

TEST(Pacer, ATenantThatWaitsForLongKernelsHasWork) {
    // Beside the other one none of its kernels ends, and what that has queued takes 120 ms.
    PacedGpu gpu({50 * point}, {{kernel, 1e-4, 16}, {60 * ms, .99, 2}});
    gpu.until(2 * qos::second);
    gpu.mark();
    gpu.until(8 * qos::second);
    EXPECT_GE(gpu.percent(0), 45);
    EXPECT_GE(gpu.percent(1), 35);

    // The same of one that waits for each of its launches, which an event follows.
    PacedGpu waits({50 * point}, {{kernel, 1e-4, 1}, {60 * ms, .99, 2}});
    waits.tasks[0].seen.waits = true;
    waits.until(2 * qos::second);
    waits.mark();
    waits.until(8 * qos::second);
    EXPECT_GE(waits.percent(0), 45);
}

TEST(Pacer, HoldsNobodyForAServiceWithoutARequest) {
    // It has work for 20 ms of 60, in which it has its goal.
    PacedGpu gpu({50 * point}, {{kernel, .6, 16}, {kernel, .6}});
    gpu.until(2 * qos::second);
    gpu.mark();
    for (Ns begin = gpu.now; begin < 6 * qos::second; begin += 60 * ms) {
        gpu.tasks[0].works = true;
        gpu.until(begin + 20 * ms);
        gpu.tasks[0].works = false;
        gpu.until(begin + 60 * ms);
    }
    EXPECT_GE(gpu.percent(0), 17);
    EXPECT_GE(gpu.percent(1), 60);
}

TEST(Pacer, LooksAtNothingThatDoesNotCount) {
    PacedGpu gpu({80 * point}, {{kernel, .5}, {kernel, .5}});
    gpu.counts = false;
    gpu.until(3 * qos::second);
    EXPECT_EQ(gpu.pacer.alone(0), 0);
    gpu.counts = true;
    gpu.until(6 * qos::second);
    EXPECT_NEAR(gpu.pacer.alone(0), 5000, 25);
}

/// A task may write its counts itself.
TEST(Pacer, TakesAnyNumbers) {
    constexpr std::uint64_t large = std::uint64_t{1} << 63;
    for (const std::uint64_t step : {std::uint64_t{1} << 40, large - 1, large, ~std::uint64_t{0}}) {
        Pacer pacer({50 * point, 20 * point}, 0);
        std::vector<Launched> seen(2);
        for (Ns now = 0; now < 5 * second; now += 4 * ms) {
            for (Launched &one : seen) {
                one.launched += step;
                one.ended += step;
                one.ended_at = now;
            }
            pacer.step(now, seen, true, true);
            EXPECT_GE(pacer.alone(0), 0);
        }
    }
}

TEST(Pacer, CountsLongLaunches) {
    // CUDA graphs of 50 ms.
    PacedGpu gpu({60 * point}, {{50 * ms, .5, 2}, {50 * ms, .5, 1}});
    gpu.until(2 * qos::second);
    gpu.mark();
    gpu.until(12 * qos::second);
    EXPECT_NEAR(gpu.percent(0), 62, 4);
    EXPECT_GE(gpu.percent(1), 30);
}

} // namespace
