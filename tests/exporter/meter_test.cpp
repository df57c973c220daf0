// SPDX-License-Identifier: MIT OR GPL-2.0
// A GPU that is watched, over the stand-in for NVIDIA's driver.
#include "tools/exporter/meter.hpp"

#include "bench.hpp"
#include "tests/support/waiting.hpp"
#include "units.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace nvdebug::exporter {
namespace {

namespace rm = nvdebug::driver::rm;
using namespace std::chrono_literals;

class Metered : public ::testing::Test {
  protected:
    Metered() {
        const Runlist list = Gpu(bench.tree(), 0).runlist(0).value();
        for (const ListedChannel &channel : channels_of(list))
            if (channel.tsg && channel.tsg->id == 0)
                instances.push_back(*channel.channel->instance_place.address);
        kernel.add_process(pid, instances);
        kernel.processes[pid].command = "mine";
        kernel.clock = [this] { return now; };
    }

    /// Makes a meter with a period so long that samples count even if this process does not run
    /// for a while. Steps forget no task, unless @p forgets_every is given.
    Meter meter(std::chrono::seconds keep_ended = 300s,
                std::chrono::milliseconds forgets_every = driver_test::plenty) {
        return {Gpu(bench.tree(), 0),
                driver_test::plenty,
                {.tasks = 8,
                 .keep_ended = keep_ended,
                 .shortest_look = 0ms,
                 .own_look = 0s,
                 .forgets_every = forgets_every}};
    }

    static rm::SwitchRecord one(std::uint64_t ns, bool starts, std::uint32_t pid) {
        rm::SwitchRecord record{};
        record.tag = starts ? rm::SwitchRecord::starts : rm::SwitchRecord::ends;
        record.ns = ns;
        record.pid = pid;
        record.context = pid;
        return record;
    }

    static const TaskFacts *find(const Facts &facts, std::uint32_t pid) {
        const auto found = std::ranges::find(facts.tasks, std::optional(pid), &TaskFacts::pid);
        return found == facts.tasks.end() ? nullptr : &*found;
    }

    driver_test::Bench bench{"h200", "fig7"};
    driver_test::StandIn &kernel = *bench.kernel;
    /// A process that lives as long as the test.
    const std::uint32_t pid = static_cast<std::uint32_t>(::getpid());
    std::vector<std::uint64_t> instances;
    std::uint64_t now = 0;
};

TEST_F(Metered, TimesComeFromSwitches) {
    Meter watched = meter();
    watched.step();
    kernel.switches = {one(10 * ms, true, pid), one(12 * ms, false, pid),
                       one(12 * ms + 84'000, true, 77), one(15 * ms, false, 77),
                       one(15 * ms + 84'000, true, pid)};
    now = 16 * ms;
    watched.step();
    now = 18 * ms;
    watched.step(); // no switch came, so the task on the engine has had it until now
    const Facts facts = watched.facts();
    ASSERT_FALSE(facts.trouble) << *facts.trouble;
    EXPECT_TRUE(facts.has_switches);
    EXPECT_EQ(facts.chip, "GH100");
    const TaskFacts *const mine = find(facts, pid), *const other = find(facts, 77);
    ASSERT_TRUE(mine && other);
    ASSERT_TRUE(mine->timeslice_ns);
    const std::uint64_t saving =
        2 * ms % *mine->timeslice_ns; // of the turn with an end that was seen
    ASSERT_LT(saving, 300'000U);
    EXPECT_GT(saving, 0U);
    EXPECT_EQ(mine->times.saving_ns, saving);
    EXPECT_EQ(mine->times.ns, 2 * ms + 3 * ms - 84'000 - saving);
    EXPECT_EQ(mine->times.slices.count(), 1U);
    EXPECT_EQ(mine->times.away_ns, 3 * ms + 84'000);
    EXPECT_EQ(mine->command, "mine");
    EXPECT_EQ(mine->channels, instances.size());
    EXPECT_EQ(other->times.ns, 3 * ms - 84'000);
    EXPECT_EQ(facts.switches.count(), 2U);
    EXPECT_EQ(facts.switches.max(), 84'000U);
    EXPECT_FALSE(facts.lists.empty());
    EXPECT_FALSE(facts.engines.empty());
}

TEST_F(Metered, ReusedPidStartsWithoutTimes) {
    Meter watched = meter();
    watched.step();
    kernel.switches = {one(10 * ms, true, pid), one(60 * ms, false, pid)};
    watched.step();
    ASSERT_TRUE(find(watched.facts(), pid));
    kernel.end_process(pid);
    kernel.add_process(pid, instances);
    kernel.processes[pid].command = "another";
    kernel.processes[pid].started = 99;
    kernel.processes[pid].cgroup = "0::/kubepods/pod01234567-89ab-cdef-0123-456789abcdef/x\n";
    for (const std::uint64_t had : {0 * ms, 5 * ms}) {
        if (had) {
            kernel.switches.push_back(one(70 * ms, true, pid));
            kernel.switches.push_back(one(75 * ms, false, pid));
        }
        watched.step();
        const Facts facts = watched.facts();
        EXPECT_EQ(std::ranges::count(facts.tasks, std::optional(pid), &TaskFacts::pid), 1);
        const TaskFacts *const second = find(facts, pid);
        ASSERT_TRUE(second);
        EXPECT_EQ(second->times.ns + second->times.saving_ns, had);
        EXPECT_EQ(second->command, "another");
        EXPECT_EQ(second->id.pod, "01234567-89ab-cdef-0123-456789abcdef");
    }
}

/// The pid is reused between two looks, so that the first thing that is known of the new process is
/// a turn.
TEST_F(Metered, ReusedPidIsNoticedAtItsFirstTurn) {
    Meter watched = meter();
    watched.step();
    kernel.switches = {one(10 * ms, true, pid), one(60 * ms, false, pid)};
    watched.step();
    kernel.end_process(pid);
    kernel.add_process(pid, instances);
    kernel.processes[pid].started = 99;
    kernel.switches.push_back(one(70 * ms, true, pid));
    kernel.switches.push_back(one(75 * ms, false, pid));
    watched.step();
    const Facts facts = watched.snapshot();
    ASSERT_TRUE(find(facts, pid));
    EXPECT_EQ(find(facts, pid)->times.ns, 5 * ms);
}

TEST_F(Metered, PidsGetNamesOnlyOfProcessesThatUseTheGpu) {
    kernel.add_process(4711, {});
    kernel.processes[4711].command = "cron";
    for (const bool uses : {true, false})
        for (const bool host : {true, false}) {
            kernel.processes[4711].uses_gpu = uses;
            kernel.host_numbers = host;
            kernel.switches.clear();
            Meter watched = meter();
            watched.step();
            kernel.switches = {one(10 * ms, true, 4711), one(60 * ms, false, 4711)};
            watched.step();
            const Facts facts = watched.facts();
            const TaskFacts *const task = find(facts, 4711);
            ASSERT_TRUE(task);
            EXPECT_EQ(task->times.ns, 50 * ms);
            EXPECT_EQ(task->command, uses && host ? "cron" : "") << uses << host;
            EXPECT_EQ(facts.foreign_pids, !host);
        }
}

TEST_F(Metered, GpuThatSleptAtFirstIsReadAgain) {
    std::string &power = kernel.files["/sys/bus/pci/devices/0000:01:00.0/power/runtime_status"];
    power = "suspended\n";
    const Gpu gpu(bench.tree(), 0);
    EXPECT_TRUE(gpu.info()->runlists.empty());
    power = "active\n";
    EXPECT_TRUE(gpu.info()->runlists.empty()) << "it is not asked each time";
    kernel.time += 2s;
    EXPECT_FALSE(gpu.info()->runlists.empty());
    EXPECT_TRUE(gpu.engine_states());
}

/// Tasks come and go without a scrape. The meter makes room in this case too, also for TSGs without
/// a pid.
TEST_F(Metered, TasksThatEndedAreForgottenWithoutScrapes) {
    Meter watched = meter(0s, 0ms);
    watched.step();
    std::uint64_t at = 10;
    for (std::uint32_t n = 0; n < 8; n++, at += 2) {
        kernel.switches.push_back(one(at * ms, true, 5000 + n));
        kernel.switches.push_back(one((at + 1) * ms, false, 5000 + n));
    }
    watched.step();
    // The first step notices their ends. By the second step, the time for which they are kept is
    // over.
    for (int n = 0; n < 2; n++) {
        ::usleep(1000);
        watched.step();
    }
    kernel.switches.push_back(one(at * ms, true, pid));
    kernel.switches.push_back(one((at + 1) * ms, false, pid));
    watched.step();
    const Facts facts = watched.snapshot();
    ASSERT_TRUE(find(facts, pid)) << "there was room";
    EXPECT_EQ(facts.others.ns, 0U);
    EXPECT_FALSE(find(facts, 5000));
}

/// Other processes make a look long. Neither a step nor snapshot() waits for it.
TEST_F(Metered, StepsDoNotWaitForLooks) {
    Meter watched = meter();
    watched.step();
    std::mutex gate;
    gate.lock();
    std::atomic<bool> looks = false;
    kernel.before_list = [&] {
        looks = true;
        const std::scoped_lock held(gate);
    };
    std::thread looker([&] { watched.look(); });
    EXPECT_TRUE(driver_test::comes_true([&] { return looks.load(); }));
    kernel.switches = {one(10 * ms, true, pid), one(12 * ms, false, pid)};
    watched.step();
    ASSERT_TRUE(find(watched.snapshot(), pid));
    watched.look(); // returns at once, because another look goes on
    gate.unlock();
    looker.join();
    kernel.before_list = nullptr;
}

TEST_F(Metered, LostSwitchesAreCountedOnce) {
    Meter watched = meter();
    watched.step();
    kernel.switches = {one(10 * ms, true, pid), one(12 * ms, false, pid)};
    kernel.dropped = 9;
    watched.step();
    EXPECT_EQ(watched.facts().switches_lost, 9U);
    watched.step();
    EXPECT_EQ(watched.facts().switches_lost, 9U) << "once";
}

TEST_F(Metered, SamplesGiveTimesIfSwitchesAreMissing) {
    kernel.has_switches = false;
    Meter watched = meter();
    const auto begin = std::chrono::steady_clock::now();
    for (int n = 0; n < 4; n++) {
        watched.step();
        ::usleep(2000);
    }
    const std::chrono::nanoseconds watched_for = std::chrono::steady_clock::now() - begin;
    const Facts facts = watched.facts();
    EXPECT_FALSE(facts.has_switches);
    std::uint64_t held = 0;
    for (const TaskFacts &task : facts.tasks)
        held += task.times.ns;
    EXPECT_GE(held, 3 * 2 * ms) << "somebody was on it at each of four looks";
    EXPECT_LE(held, static_cast<std::uint64_t>(watched_for.count())) << "one at a time";
}

TEST_F(Metered, EndedTasksAreForgottenAfterAWhile) {
    const pid_t child = ::fork();
    if (child == 0)
        ::_exit(0);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    const auto ended = static_cast<std::uint32_t>(child);
    for (const auto keep : {300s, 0s}) {
        Meter watched = meter(keep);
        watched.step();
        kernel.switches = {one(10 * ms, true, ended), one(12 * ms, false, ended)};
        watched.step();
        EXPECT_TRUE(find(watched.facts(), ended)) << "it had the GPU";
        ::usleep(1000);
        EXPECT_EQ(find(watched.facts(), ended) != nullptr, keep != 0s);
    }
}

TEST_F(Metered, GpuToWhichAccessComesLaterGetsAMeterOfItsOwn) {
    kernel.add_card(1, 2);
    kernel.cannot_open["/dev/nvidia0"] = ENOENT;
    const Tree tree = bench.tree();
    Meters meters;
    const auto add = [&] { add_meters(usable_gpus(tree).value(), 1s, {}, meters); };
    add();
    ASSERT_EQ(meters.size(), 1U);
    EXPECT_EQ(meters[0]->gpu(), 1U);
    const auto first = meters[0];
    kernel.cannot_open.clear();
    add();
    ASSERT_EQ(meters.size(), 2U);
    EXPECT_EQ(meters[0]->gpu(), 0U);
    EXPECT_EQ(meters[1], first) << "its counters go on";
    kernel.cannot_open["/dev/nvidia1"] = EPERM;
    add();
    EXPECT_EQ(meters.size(), 2U) << "a GPU that was there is trouble when access to it ends";
}

TEST_F(Metered, LostGpuIsTrouble) {
    Meter watched = meter();
    watched.step();
    EXPECT_FALSE(watched.facts().trouble);
    kernel.registers = [](std::uint32_t) { return std::optional(~0U); };
    watched.step();
    const Facts facts = watched.facts();
    EXPECT_TRUE(facts.trouble);
    EXPECT_GT(facts.errors, 0U);
}

TEST_F(Metered, UsersOtherThanRootSeeTheirOwnSwitches) {
    kernel.root = false;
    Meter watched = meter();
    watched.step();
    kernel.switches = {one(10 * ms, true, pid), one(12 * ms, false, pid)};
    watched.step();
    const Facts facts = watched.facts();
    EXPECT_FALSE(facts.trouble) << *facts.trouble;
    ASSERT_TRUE(find(facts, pid));
    EXPECT_EQ(find(facts, pid)->times.ns, 2 * ms)
        << "switches of one's own processes are anybody's";
    EXPECT_TRUE(facts.engines.empty() && facts.lists.empty()) << "registers are root's";
    EXPECT_GT(facts.errors, 0U) << "that they are missing is counted";
}

} // namespace
} // namespace nvdebug::exporter
