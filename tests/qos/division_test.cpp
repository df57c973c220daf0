// SPDX-License-Identifier: MIT OR GPL-2.0
// A division of TPCs and a speed at once, of two simulated tasks that have launches queued: what is
// launched for all TPCs waits on those of the other one for its kernels, as on an H200.
#include "lib/qos/division.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <gtest/gtest.h>

namespace {

using namespace qos;

constexpr int tpcs = 66;
constexpr std::size_t batch = 16; ///< launches that a task makes before it waits for those before

struct Task {
    Ns length;             ///< of a kernel, alone
    int needs;             ///< TPCs; fewer make it slower
    std::deque<int> queue; ///< TPCs of what is in flight; 0: all
    Ns left = 0;           ///< of the first one
    double done = 0;
    Launched seen = {};

    /// Launches at its host's pace; the ends of the ones before are seen then, or while it is held.
    void launch(Ns now, bool held, int own) {
        const auto ended = static_cast<std::uint64_t>(done);
        if (ended != seen.ended && (held || queue.size() <= batch)) {
            seen.ended = ended;
            seen.ended_at = now;
        }
        if (!held && queue.size() <= batch) {
            queue.insert(queue.end(), batch, own);
            seen.launched += batch;
        }
    }

    void run(Ns passed, double speed) {
        if (queue.empty())
            return;
        done += speed * static_cast<double>(passed) / static_cast<double>(length);
        while (!queue.empty() && static_cast<double>(seen.launched - queue.size()) + 1 <= done)
            queue.pop_front();
        done = std::min(done, static_cast<double>(seen.launched));
    }
};

class Gpu {
  public:
    /// @param divided TPCs are
    Gpu(Part goal, bool divided) : pacer({goal}, 0), division(tpcs, goal, 0), divided_(divided) {}

    void until(Ns end) {
        constexpr Ns passed = 50 * us;
        for (; now < end; now += passed) {
            if (now % (4 * ms) == 0)
                step();
            const bool holds = divided_ ? division.holds_others() : pacer.holds_others();
            tenant.launch(now, pacer.holds(0), divided_ ? division.of_tenant() : 0);
            other.launch(now, holds, divided_ ? division.of_others() : 0);
            const double speed = speed_of_tenant(), beside = speed_of_other();
            tenant.run(passed, speed);
            other.run(passed, beside);
        }
    }

    /// Of their speeds alone, from then on, in percent.
    void mark() { marked_ = {now, tenant.done, other.done}; }
    double of_tenant() const { return percent(tenant, marked_.tenant); }
    double of_other() const { return percent(other, marked_.other); }

    Task tenant = {180 * us, 12};
    Task other = {200 * us, tpcs};
    Pacer pacer;
    Division division;
    Ns now = 0;
    /// Steps before which the tenant launched with few TPCs, and what has not ended would be
    /// taken for its speed alone.
    int steps_with_few = 0, steps_that_count = 0;

  private:
    double percent(const Task &task, double before) const {
        return 100 * (task.done - before) * static_cast<double>(task.length) /
               static_cast<double>(now - marked_.at);
    }

    /// The other one's kernels are many, so that it has nearly all of the TPCs that it may use.
    double speed_of_tenant() const {
        if (tenant.queue.empty())
            return 0;
        const int own = tenant.queue.front();
        const bool is_apart = own && (other.queue.empty() || other.queue.front());
        if (!is_apart && !other.queue.empty())
            return 0.15;
        return own ? std::min(1.0, static_cast<double>(own) / tenant.needs) : 1;
    }

    double speed_of_other() const {
        if (other.queue.empty())
            return 0;
        const int own = other.queue.front();
        const bool is_apart = tenant.queue.empty() || (own && tenant.queue.front());
        return (own ? static_cast<double>(own) / tpcs : 1) * (is_apart ? 1 : 0.87);
    }

    void step() {
        const bool held = divided_ ? division.holds_others() : pacer.holds_others();
        const bool drained = !held || other.queue.empty();
        pacer.step(now, std::vector{tenant.seen}, drained, true, !divided_ || division.is_whole());
        const bool few = division.of_tenant() && tenant.seen.launched > tenant.seen.ended;
        division.step(now, {tenant.seen, static_cast<std::uint64_t>(other.done), drained, true},
                      pacer);
        steps_with_few += few;
        steps_that_count += few && division.is_whole();
    }

    struct Mark {
        Ns at;
        double tenant, other;
    };
    const bool divided_;
    Mark marked_ = {};
};

TEST(Division, LeavesTheOtherOneMoreThanTurnsDo) {
    for (const double goal : {50, 70, 90}) {
        SCOPED_TRACE(goal);
        const Part part = static_cast<Part>(goal) * point;
        Gpu turns(part, false), divided(part, true);
        for (Gpu *gpu : {&turns, &divided}) {
            gpu->until(15 * second);
            gpu->mark();
            // Two looks at the speed alone.
            gpu->until(38 * second);
            EXPECT_GE(gpu->of_tenant(), 0.99 * goal);
            EXPECT_LE(gpu->of_tenant(), 1.05 * goal);
        }
        EXPECT_GE(divided.division.split(), 12 * goal / 100 - 1);
        EXPECT_LE(divided.division.split(), 17);
        EXPECT_GE(divided.of_other(), 65);
        EXPECT_GE(divided.of_other(), 1.2 * turns.of_other());
    }
}

TEST(Division, LeavesNobodyWithTooFewTpcs) {
    // It needs more than its own: while it catches up it has all of them.
    Gpu gpu(80 * point, true);
    gpu.until(15 * second);
    gpu.tenant.needs = 60;
    gpu.until(16 * second);
    gpu.mark();
    gpu.until(26 * second);
    EXPECT_GE(gpu.of_tenant(), 75);
}

TEST(Division, TakesNoSpeedWithFewTpcsForThatAlone) {
    Gpu gpu(20 * point, true);
    gpu.until(50 * second);
    EXPECT_GT(gpu.steps_with_few, 1000);
    EXPECT_EQ(gpu.steps_that_count, 0);
    EXPECT_NEAR(gpu.pacer.alone(0), 5556, 60);
}

} // namespace
