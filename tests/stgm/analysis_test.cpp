// SPDX-License-Identifier: MIT OR GPL-2.0
// Bounds worked out by hand, of the counterexamples to the paper's equations and of each analysis.
#include "sets.hpp"

namespace stgm {
namespace {

/** A set that breaks an equation of the paper, with a response of a task in a known schedule. */
struct Counterexample {
    const char *file, *task;
    bool busy, spin_copies;
    Time response, printed, sound;
    Printed alone;
};

const Counterexample counterexamples[] = {
    {"ce1", "hi", false, false, 4, 3, 4, {.one_copy = true}},
    {"ce2", "A", false, false, 4, 2, 4, {.direct_sharing = true}},
    {"ce2c", "A", false, false, 115, 60, 120, {.direct_sharing = true}},
    {"ce3", "mid", false, false, 19, 15, 25, {.cpu_segments = true}},
    {"ce4", "lo", true, false, 4, 2, 4, {.own_blocking = true}},
    {"ce5", "hi", true, false, 4, 2, 4, {.no_waiting = true}},
    {"ce6", "lo", false, true, 5, 2, 8, {.copies_suspend = true}},
};

class Counterexamples : public testing::TestWithParam<Counterexample> {};

TEST_P(Counterexamples, BoundsMatchHandCalculations) {
    const auto &one = GetParam();
    const TaskSet set = set_of(one.file);
    Options options{.busy = one.busy, .spin_copies = one.spin_copies};
    EXPECT_EQ(bound_of(set, options, one.task), one.sound);
    options.method = Method::printed;
    EXPECT_EQ(bound_of(set, options, one.task), one.printed);
    options.method = Method::tight;
    const auto tight = bound_of(set, options, one.task);
    ASSERT_TRUE(tight);
    EXPECT_GE(*tight, one.response);
    EXPECT_LE(*tight, one.sound);
}

TEST_P(Counterexamples, OneEquationAsPrintedMakesTheBoundTooSmall) {
    const auto &one = GetParam();
    const Options options{.busy = one.busy, .spin_copies = one.spin_copies, .printed = one.alone};
    const auto bound = bound_of(set_of(one.file), options, one.task);
    ASSERT_TRUE(bound);
    EXPECT_LT(*bound, one.response);
}

INSTANTIATE_TEST_SUITE_P(Paper, Counterexamples, testing::ValuesIn(counterexamples),
                         [](const auto &info) { return std::string(info.param.file); });

TEST(Analysis, NewTaskTakesABoundFromAnotherOnItsCore) {
    const TaskSet set = set_of("a16");
    EXPECT_FALSE(bound_of(set, {}, "long"));
    EXPECT_EQ(bound_of(set, {}, "short"), 3);
}

/** Two tasks with GPU segments on two cores, one without. */
TaskSet example() {
    return {"tick",
            2,
            4,
            {task("a", 100, {cpu(3), gpu(2, {20, 10}, 1), cpu(1)}, 0, {0, 1}),
             task("b", 200, {gpu(4, {12}, 5)}, 1, {1}), task("c", 400, {cpu(7)}, 0)}};
}

TEST(Analysis, SuspendingTasksHaveEachTerm) {
    const auto bounds = analyse(example(), {});
    // In the paper's symbols (docs/stgm-design.md), C is CPU time, G the time of copies and kernels,
    // and B^m, B^e and B^l are the waits for copies, for kernels and for lower priorities.
    // a: C 4, G 13, B^m 2·5, B^e 12, B^l 0
    EXPECT_EQ(bounds[0].blocking.copy, 10);
    EXPECT_EQ(bounds[0].blocking.kernel, 12);
    EXPECT_EQ(bounds[0].blocking.inversion, 0);
    EXPECT_EQ(bounds[0].response, 4 + 13 + 10 + 12);
    // b: G 21, B^m 2·2, B^e 10
    EXPECT_EQ(bounds[1].response, 21 + 4 + 10);
    // c: its own 7, and a's CPU time of 7 with a jitter of 39 - 7
    EXPECT_EQ(bounds[2].response, 7 + 7);
    EXPECT_EQ(bounds[2].preemption, 7);
}

TEST(Analysis, BusyTasksTakeTheCoreWhileTheyWait) {
    const auto bounds = analyse(example(), {.busy = true});
    EXPECT_EQ(bounds[0].response, 39);
    EXPECT_EQ(bounds[2].response, 7 + 39);
}

TEST(Analysis, SpinningForTheCopyEngineIsDemandOnTheCore) {
    const auto bounds = analyse(example(), {.spin_copies = true});
    // R of core 0 is 5, of core 1 it is 2.
    EXPECT_EQ(bounds[0].blocking.copy, 2 * 5);
    EXPECT_EQ(bounds[1].blocking.copy, 2 * 2);
    EXPECT_EQ(bounds[2].response, 7 + (4 + 3 + 2 * 5));
}

TEST(Analysis, LocksWaitInFifoOrPriorityOrder) {
    // In FIFO order a request waits for one segment of each other task. By priority, a waits for
    // b's segment, and b for a segment of a's job before it and of one after it.
    const auto fifo = analyse(example(), {.method = Method::fmlp});
    EXPECT_EQ(fifo[0].blocking.kernel, 21);
    EXPECT_EQ(fifo[0].blocking.copy, 0);
    EXPECT_EQ(fifo[0].response, 4 + 13 + 21);
    EXPECT_EQ(fifo[1].response, 21 + 13);
    const auto priority = analyse(example(), {.method = Method::mpcp});
    EXPECT_EQ(priority[0].blocking.kernel, 21);
    EXPECT_EQ(priority[1].blocking.kernel, 2 * 13);
}

TEST(Analysis, RequestsOfHigherPriorityAreCountedOncePerResponse) {
    const TaskSet set{"tick",
                      2,
                      1,
                      {task("a", 100, {gpu(0, {5}, 0)}, 0),
                       task("b", 1000, {gpu(0, {1}, 0), gpu(0, {1}, 0), gpu(0, {1}, 0)}, 1)}};
    // Two jobs of a may come while b waits, for each of three requests; but in the whole response
    // there are only two.
    const Bound suspending = analyse(set, {.method = Method::mpcp})[1];
    const Bound busy = analyse(set, {.method = Method::mpcp, .busy = true})[1];
    EXPECT_EQ(suspending.blocking.kernel, 2 * 5);
    EXPECT_EQ(suspending.response, 3 + 2 * 5);
    EXPECT_EQ(busy.blocking.kernel, 3 * 2 * 5);
    EXPECT_EQ(busy.response, 3 + 3 * 2 * 5);
}

TEST(Analysis, ServerRunsGpuSegments) {
    const auto bounds =
        analyse(example(), {.method = Method::server, .server_overhead = 1, .server_core = 0});
    // a waits for b's segment with the server's work, and for its own request twice. b's copies
    // take a's core, too, where the server runs.
    EXPECT_EQ(bounds[0].blocking.kernel, 22 + 2);
    EXPECT_EQ(bounds[0].response, 4 + 13 + 24 + (9 + 2) * 2);
    EXPECT_EQ(bounds[1].blocking.kernel, 2 * (13 + 1) + 2);
}

TEST(Analysis, FederatedTasksHaveSmsOfTheirOwn) {
    TaskSet set = example();
    EXPECT_FALSE(analyse(set, {.method = Method::federated})[0].response);
    set.tasks[1].sms = {{2}};
    EXPECT_EQ(analyse(set, {.method = Method::federated})[0].response, 4 + 13 + 10);
}

TEST(Analysis, KernelsWaitForTurnsOfOthers) {
    const auto bounds =
        analyse(example(),
                {.method = Method::timeslice, .timeslice = 4, .turn_extra = 1, .turn_switch = 2});
    // a's kernel of 10 takes three turns, before each one of b, and two changes.
    EXPECT_EQ(bounds[0].blocking.kernel, 3 * (4 + 1 + 2 * 2));
    EXPECT_EQ(bounds[0].blocking.copy, 10);
}

TEST(Analysis, BoundNeedsTheBoundsThatItCountsOn) {
    TaskSet set = example();
    set.tasks[0].deadline = 20;
    const auto bounds = analyse(set, {.method = Method::mpcp});
    EXPECT_FALSE(bounds[0].response);
    EXPECT_FALSE(bounds[1].response) << "how often a asks for the lock is not known";
    EXPECT_GT(bounds[1].blocking.kernel, 0);
}

TEST(Analysis, OverflowGivesNoBound) {
    TaskSet set = example();
    for (Task &one : set.tasks)
        one.period = one.deadline = longest_time;
    set.tasks[1].segments.assign(limit::segments, gpu(longest_time, {longest_time}, longest_time));
    for (const auto &[name, method] : method_names)
        for (const bool busy : {false, true}) {
            const auto bounds = analyse(set, {.method = method, .busy = busy});
            EXPECT_FALSE(bounds[1].response) << name;
            for (const Bound &bound : bounds)
                for (const Time part :
                     {bound.blocking.copy, bound.blocking.kernel, bound.blocking.inversion})
                    EXPECT_GE(part, 0) << name;
        }
}

/** The jump of the recurrence finds the same solution as single steps would. */
TEST(LeastResponse, SolvesANearlyFullCore) {
    const Source sources[] = {{999'999'998, 1'000'000'000, 0}, {1, 1'000'000'000, 0}};
    EXPECT_EQ(least_response(1000, sources, longest_time, 0), 1000 * Time{1'000'000'000});
    const Source full[] = {{1, 2, 0}, {1, 2, 0}};
    EXPECT_FALSE(least_response(1, full, longest_time, 0));
}

} // namespace
} // namespace stgm
