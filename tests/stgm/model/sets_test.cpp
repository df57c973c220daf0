// SPDX-License-Identifier: MIT OR GPL-2.0
// Sets on the GPU model. No response is above a sound bound, unless a fault is planted.
#include <algorithm>
#include <list>

#include "lib/stgm/allocate.hpp"
#include "lib/stgm/generate.hpp"
#include "set_on_model.hpp"
#include "tests/stgm/sets.hpp"

namespace stgm_model {
namespace {

using stgm::Options;
using stgm::TaskSet;

const nvmodel::Board &board() {
    static const nvmodel::Board found =
        nvmodel::load_board(std::filesystem::path(BOARDS) / "h200.json");
    return found;
}

/** Returns the set with ticks of @p tick_ms milliseconds, in us. */
TaskSet in_milliseconds(TaskSet set, Time tick_ms = 1) {
    const Time us = 1000 * tick_ms;
    set.time_unit = "us";
    for (stgm::Task &task : set.tasks) {
        task.period *= us;
        task.deadline *= us;
        for (stgm::Segment &segment : task.segments) {
            for (Time *const each : {&segment.cpu, &segment.to_device, &segment.from_device})
                *each *= us;
            for (Time &each : segment.kernel)
                each *= us;
        }
    }
    return set;
}

TaskSet robot() {
    std::ifstream file(ROBOT);
    const auto set = stgm::parse(std::string(std::istreambuf_iterator<char>(file), {}));
    const auto allocated = stgm::allocate(*set, {}, stgm::Algorithm::mended);
    EXPECT_TRUE(allocated.found);
    return allocated.set;
}

struct Mode {
    const char *name;
    stgm::Waiting waiting;
};
constexpr Mode modes[] = {
    {"suspend", {}}, {"spin", {.spin_copies = true}}, {"busy", {.busy = true}}};

Options options_of(const stgm::Waiting &waiting, stgm::Method method = stgm::Method::stgm) {
    return {.method = method, .busy = waiting.busy, .spin_copies = waiting.spin_copies};
}

/** Returns the tasks with a response above the bound, by the model's clock. */
std::vector<std::string> above(const TaskSet &set, const std::vector<Came> &came,
                               const Options &options) {
    std::vector<std::string> found;
    const auto bounds = stgm::analyse(set, options);
    for (std::size_t n = 0; n < set.tasks.size(); n++)
        if (bounds[n].response && came[n].response > *bounds[n].response * nvmodel::ns_per_us)
            found.push_back(set.tasks[n].name);
    return found;
}

/** Returns a run of @p periods periods of the slowest task, with offsets at random. */
How at_random(const TaskSet &set, const stgm::Waiting &waiting, stgm::Random &random,
              Time periods) {
    How how{.waiting = waiting};
    for (const stgm::Task &task : set.tasks) {
        how.offsets.push_back(random.between(0, task.period - 1));
        how.duration = std::max(how.duration, task.period * periods);
    }
    return how;
}

/** Runs the set and expects that no task exceeds its bound. Returns the number of jobs. */
std::size_t hold(const TaskSet &set, const How &how) {
    const auto came = SetOnModel(board(), set, how).run();
    EXPECT_EQ(above(set, came, options_of(how.waiting)), std::vector<std::string>());
    std::size_t jobs = 0;
    for (std::size_t n = 0; n < came.size(); n++) {
        EXPECT_FALSE(came[n].longer) << set.tasks[n].name;
        EXPECT_GT(came[n].jobs, 0U) << set.tasks[n].name;
        jobs += came[n].jobs;
    }
    return jobs;
}

TEST(SetsOnTheModel, TheRobotIsWithinItsBounds) {
    const TaskSet set = robot();
    stgm::Random random(1);
    std::size_t jobs =
        hold(set, {.offsets = std::vector<Time>(set.tasks.size()), .duration = 3'000'000});
    for (int n = 0; n < 10; n++)
        jobs += hold(set, at_random(set, {}, random, 5));
    EXPECT_GT(jobs, 200U);
}

TEST(SetsOnTheModel, TheCounterexamplesAreWithinTheSoundBounds) {
    stgm::Random random(2);
    for (const char *const name : {"ce1", "ce2", "ce2c", "ce3", "ce4", "ce5", "ce6"})
        for (const Mode &mode : modes) {
            SCOPED_TRACE(std::string(name) + " " + mode.name);
            // Ticks of 2 ms are long enough for a tenth of a kernel to have room for a launch.
            const TaskSet set = in_milliseconds(stgm::set_of(name), 2);
            for (int n = 0; n < 20; n++)
                hold(set, at_random(set, mode.waiting, random, 4));
        }
}

TEST(SetsOnTheModel, SetsOfTableOneAreWithinTheirBounds) {
    stgm::Random random(3);
    int held = 0;
    for (int n = 0; n < 40; n++) {
        const auto drawn = stgm::generate({.cores = 2, .tasks = 5}, random);
        const Mode &mode = modes[n % 3];
        const auto allocated =
            stgm::allocate(*drawn, options_of(mode.waiting), stgm::Algorithm::mended);
        if (!allocated.found)
            continue;
        SCOPED_TRACE(std::to_string(n) + " " + mode.name);
        hold(allocated.set, at_random(allocated.set, mode.waiting, random, 3));
        held++;
    }
    EXPECT_GE(held, 5);
}

/** Runs counterexamples of stgm.md with the offsets of their schedules. Responses on the model
 * exceed the printed bounds, too. */
TEST(SetsOnTheModel, PrintedBoundsAreExceeded) {
    struct Case {
        const char *name;
        stgm::Waiting waiting;
        std::vector<Time> offsets; // us
        std::vector<std::string> above;
    };
    // Offsets are in the order of the file's tasks. A small difference decides which task requests
    // first.
    const Case cases[] = {{"ce1", {}, {100, 0}, {"hi"}},
                          {"ce4", {.busy = true}, {100, 200, 0}, {"lo"}},
                          {"ce5", {.busy = true}, {200, 100, 0}, {"hi"}}};
    for (const Case &one : cases) {
        SCOPED_TRACE(one.name);
        const TaskSet set = in_milliseconds(stgm::set_of(one.name));
        const auto came = SetOnModel(board(), set, {one.waiting, one.offsets, 50'000}).run();
        EXPECT_EQ(above(set, came, options_of(one.waiting, stgm::Method::printed)), one.above);
        EXPECT_TRUE(above(set, came, options_of(one.waiting)).empty());
    }
}

TEST(SetsOnTheModel, KernelsThatTakeTwiceAsLongAreNoticed) {
    const TaskSet set = robot();
    const auto came =
        SetOnModel(board(), set,
                   {{}, std::vector<Time>(set.tasks.size()), 1'000'000, Fault::long_kernels})
            .run();
    EXPECT_FALSE(above(set, came, {}).empty());
    EXPECT_TRUE(std::ranges::any_of(came, &Came::longer));
}

/** Without the boost, a task keeps the copy engine while another computes on its core, and a third
 * task waits for the copy engine too long. */
TEST(SetsOnTheModel, AMissingBoostIsNoticed) {
    TaskSet set{.time_unit = "us", .cores = 2, .sms = 2};
    set.tasks = {stgm::task("computes", 100'000, {stgm::cpu(30'000)}, 0),
                 stgm::task("copies", 200'000, {stgm::gpu(2'000, {3'000}, 2'000)}, 0, {0}),
                 stgm::task("waits", 300'000, {stgm::gpu(2'000, {1'000}, 1'000)}, 1, {1})};
    const std::vector<Time> offsets{1'000, 500, 0};
    for (const Fault fault : {Fault::none, Fault::no_boost}) {
        const auto came = SetOnModel(board(), set, {{}, offsets, 90'000, fault}).run();
        EXPECT_EQ(above(set, came, {}), fault == Fault::none ? std::vector<std::string>()
                                                             : std::vector<std::string>{"waits"});
    }
}

} // namespace
} // namespace stgm_model
