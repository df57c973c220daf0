// SPDX-License-Identifier: MIT OR GPL-2.0
// nvqos on a simulated GPU behind the stand-in for NVIDIA's driver: goals are kept, and nothing
// stays changed.
#include "kept.hpp"

#include "tools/nvqos/metrics.hpp"
#include "tools/nvqos/report.hpp"
#include "tools/nvqos/run.hpp"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <sys/wait.h>

namespace served {
namespace {

using driver_test::comes_true;
using namespace qos;

TEST_F(Kept, ShareEndsWithTheProgram) {
    const auto before = timeslices_us();
    sim.set_bursts(0, simulated::always());
    sim.set_bursts(1, simulated::always());
    start({"557=share:30%"});
    ASSERT_TRUE(gpu_goals);
    keep_until(500 * ms);
    const Ns used = sim.used(0);
    keep_until(3 * qos::second);
    EXPECT_TRUE(shares::is_kept(points(0, 500 * ms, used), 30, shares::repaid));
    EXPECT_NE(timeslices_us(), before);
    EXPECT_EQ(reports.back().tenants[0].tsgs, 1);
    EXPECT_TRUE(reports.back().tenants[0].record.kept);
    // The tenant waits for turns of the other task, which are about 7 ms.
    ASSERT_TRUE(reports.back().tenants[0].wait_p99);
    EXPECT_NEAR(static_cast<double>(*reports.back().tenants[0].wait_p99) / ms, 7, 1);
    ASSERT_EQ(gpu_goals->waits().size(), 2U);
    EXPECT_TRUE(gpu_goals->waits()[0].starts_with("gpu0: 557: of ")) << gpu_goals->waits()[0];
    gpu_goals.reset();
    EXPECT_EQ(timeslices_us(), before);
    EXPECT_EQ(said, std::vector<std::string>{});
}

TEST_F(Kept, CapHoldsForATaskThatIsAlone) {
    sim.set_bursts(0, simulated::always());
    const auto before = timeslices_us();
    start({"command:one=cap:30%"});
    ASSERT_TRUE(gpu_goals);
    keep_until(3 * qos::second);
    EXPECT_LE(most_of_a_second(0), 310 * ms);
    EXPECT_GE(sim.used(0), 3 * 280 * ms);
    EXPECT_EQ(timeslices_us(), before) << "pauses alone keep it";
    gpu_goals.reset();
    EXPECT_EQ(enabled(), all_on);
}

/// No switch shows that the task has the GPU, because it came before the record began and no other
/// task comes.
TEST_F(Kept, CapHoldsForATaskBeforeTheRecord) {
    sim.set_bursts(0, simulated::always());
    run_until(500 * ms);
    kernel.switches.clear();
    start({"command:one=cap:30%"});
    ASSERT_TRUE(gpu_goals);
    keep_until(3 * qos::second);
    EXPECT_LE(most_of_a_second(600 * ms), 310 * ms);
    const auto changes = kernel.changes();
    EXPECT_GT(changes.size(), 4U);
    gpu_goals.reset();
    EXPECT_EQ(enabled(), all_on);
}

/// Without a cap, the use of such a task is known from the second epoch on.
TEST_F(Kept, ShareSeesATaskBeforeTheRecord) {
    sim.set_bursts(0, simulated::always());
    run_until(500 * ms);
    kernel.switches.clear();
    start({"557=share:30%"});
    ASSERT_TRUE(gpu_goals);
    keep_until(2 * qos::second);
    EXPECT_GT(reports.back().tenants[0].record.seen.used, 95 * ms);
    gpu_goals.reset();
    EXPECT_EQ(enabled(), all_on);
}

/// A cap costs the processor steps, requests to the driver, and searches for contexts.
TEST_F(Kept, ACapTakesFewRequests) {
    sim.set_bursts(0, simulated::always());
    start({"command:one=cap:30%"});
    ASSERT_TRUE(gpu_goals);
    keep_until(2 * qos::second);
    const auto searched = kernel.questions;
    EXPECT_GT(searched, 0U);
    const std::uint64_t steps_before = steps, own = kernel.ioctls,
                        keepers_before = kernel.ioctls_of_others();
    constexpr Ns seconds = 20;
    keep_until((2 + seconds) * qos::second);
    const auto a_second = [](std::uint64_t count) { return static_cast<double>(count) / seconds; };
    RecordProperty("steps", std::to_string(a_second(steps - steps_before)));
    std::printf("a second: %.1f steps, %.1f requests of nvqos, %.1f of keepers\n",
                a_second(steps - steps_before), a_second(kernel.ioctls - own),
                a_second(kernel.ioctls_of_others() - keepers_before));
    EXPECT_LE(a_second(steps - steps_before), 17);
    EXPECT_LE(a_second(kernel.ioctls - own), 32);
    EXPECT_LE(a_second(kernel.ioctls_of_others() - keepers_before), 6.5);
    EXPECT_EQ(kernel.questions, searched) << "no context has come";
    keep_until(70 * qos::second);
    EXPECT_GT(kernel.questions, searched) << "a search a minute";
}

/// An MPS server may have new clients that no switch shows, so there is a search each 5 s.
TEST_F(Kept, ClientsOfMpsAreSearchedForMoreOften) {
    sim.set_bursts(0, simulated::always());
    kernel.processes[558].command = "nvidia-cuda-mps";
    start({"command:one=cap:30%"});
    ASSERT_TRUE(gpu_goals);
    keep_until(2 * qos::second);
    const auto searched = kernel.questions;
    keep_until(9 * qos::second);
    EXPECT_GT(kernel.questions, searched);
}

TEST_F(Kept, LatencyGoalIsServedFirst) {
    sim.set_bursts(0, simulated::every(20 * ms, 3 * ms));
    sim.set_bursts(1, simulated::always());
    start({"557=latency"});
    keep_until(qos::second);
    EXPECT_NEAR(static_cast<double>(timeslices_us()[0]), 16000, 200);
    EXPECT_NEAR(static_cast<double>(timeslices_us()[1]), 30, 2);
    EXPECT_EQ(reports.back().tenants[0].held, 1U);
    EXPECT_EQ(reports.back().tenants[1].limited.tasks, 0U) << "nvtaskset did not start it";
}

/// Clients of an MPS server share one timeslice, so none is set, and the table does not show one.
TEST_F(Kept, ClientsOfMpsHaveNoLeverOfTheirOwn) {
    // Both clients have a channel in the first TSG.
    for (const auto &[client, instance] :
         {std::pair{first, instances[0]}, std::pair{second, instances[1]}})
        for (auto &[name, object] : kernel.others[client])
            if (object.instance.address)
                object.instance.address = instance;
    const auto before = timeslices_us();
    start({"557=latency"});
    ASSERT_TRUE(gpu_goals);
    keep_until(300 * ms);
    EXPECT_EQ(timeslices_us(), before);
    ASSERT_FALSE(reports.empty());
    for (const nvqos::TenantReport &tenant : reports.back().tenants) {
        EXPECT_EQ(tenant.tasks, 1U);
        EXPECT_EQ(tenant.held, 0U);
    }
    const std::string table = nvqos::table_of({reports.back()});
    EXPECT_EQ(std::ranges::count(table, '\n'), 3);
    EXPECT_NE(table.find(" none "), table.npos) << table;
    ASSERT_EQ(said.size(), 2U);
    EXPECT_NE(said[0].find("(MPS)"), std::string::npos) << said[0];
}

TEST_F(Kept, SharesOfClientsOfMpsCannotBeSeen) {
    for (const auto &[client, instance] :
         {std::pair{first, instances[0]}, std::pair{second, instances[1]}})
        for (auto &[name, object] : kernel.others[client])
            if (object.instance.address)
                object.instance.address = instance;
    start({"557=share:30%"});
    ASSERT_TRUE(gpu_goals);
    keep_until(1500 * ms);
    ASSERT_FALSE(reports.empty());
    EXPECT_EQ(reports.back().tenants[0].why_not, nvqos::WhyNot::cannot_be_seen);
    EXPECT_NE(nvqos::kept(reports.back().tenants[0]), true);
    const auto missed = gpu_goals->missed();
    ASSERT_EQ(missed.size(), 1U);
    EXPECT_GE(missed[0].unseen, 5U);
    EXPECT_TRUE(nvqos::is_too_often(missed[0]));
}

/// A tenant with a task of its own and a client of an MPS server, of which no turns are seen.
TEST_F(Kept, CapOfATenantWithOneClientOfMpsCannotBeSeen) {
    sim.set_bursts(0, simulated::always());
    sim.set_bursts(1, simulated::always());
    add_third(600, simulated::always());
    for (const auto &[client, instance] :
         {std::pair{first, instances[0]}, std::pair{second, instances[1]}})
        for (auto &[name, object] : kernel.others[client])
            if (object.instance.address)
                object.instance.address = instance;
    kernel.processes[600].command = kernel.processes[557].command = "both";
    start({"command:both=cap:80%"});
    ASSERT_TRUE(gpu_goals);
    keep_until(3500 * ms);
    ASSERT_FALSE(reports.empty());
    EXPECT_EQ(reports.back().tenants[0].tasks, 2U);
    EXPECT_EQ(reports.back().tenants[0].held, 1U);
    EXPECT_EQ(reports.back().tenants[0].why_not, nvqos::WhyNot::cannot_be_seen);
    EXPECT_NE(nvqos::kept(reports.back().tenants[0]), true);
}

TEST_F(Kept, NewcomerIsFollowedWithinAnEpoch) {
    sim.set_bursts(0, simulated::always());
    sim.set_bursts(1, simulated::always());
    start({"557=share:40%"});
    keep_until(qos::second);
    add_third(600, simulated::always());
    const Ns came = sim.now();
    keep_until(came + 150 * ms);
    const auto changes = kernel.changes();
    EXPECT_TRUE(
        std::ranges::any_of(changes, [&](const auto &change) { return change.client == third; }));
    const Ns used = sim.used(0), since = sim.now();
    keep_until(since + 2 * qos::second);
    // A share also gets what its turns lose at their ends, up to a point.
    EXPECT_GE(points(0, since, used), 39);
    EXPECT_LE(points(0, since, used), 42);
    EXPECT_EQ(reports.back().tenants[1].tasks, 2U);
    // When the newcomer ends, the others go on, and nvqos keeps no descriptor of it.
    sim.stop(2);
    kernel.end_process(600);
    keep_until(sim.now() + 6 * qos::second);
    EXPECT_EQ(reports.back().tenants[1].tasks, 1U);
    EXPECT_FALSE(kernel.others.contains(third));
}

/// A process with a new channel is held again. At the end it has the timeslices from before the
/// first hold.
TEST_F(Kept, NewChannelIsFollowed) {
    sim.set_bursts(0, simulated::always());
    sim.set_bursts(1, simulated::always());
    const auto before = timeslices_us();
    start({"557=share:40%"});
    keep_until(qos::second);
    auto &objects = kernel.others[first];
    const auto channel = std::ranges::find_if(
        objects, [](const auto &one) { return one.second.instance.address != 0; });
    ASSERT_NE(channel, objects.end());
    auto more = channel->second;
    more.instance.address = 0x7000000;
    objects.emplace(0x5c0000f0, more);
    ids[0x7000000] = 0;
    keep_until(sim.now() + 61 * qos::second);
    EXPECT_NE(timeslices_us(), before);
    gpu_goals.reset();
    EXPECT_EQ(timeslices_us(), before);
}

TEST_F(Kept, TenantMayForkAHundredTimes) {
    sim.set_bursts(0, simulated::always());
    // The children do not have the GPU, so no switch shows them.
    start({"557=share:30%", "command:child=best-effort:2"}, {.longest_unlooked = 5 * qos::second});
    keep_until(200 * ms);
    for (std::uint32_t n = 0; n < 100; n++) {
        const std::uint32_t client = kernel.add_process(1000 + n, {0x8000000 + 0x1000ULL * n});
        kernel.processes[1000 + n].command = "child";
        kernel.processes[1000 + n].started = 100 + n;
        for (auto &[name, object] : kernel.others[client])
            object.timeslice_us = 2000;
    }
    keep_until(6 * qos::second);
    EXPECT_EQ(reports.back().tenants[1].tasks, 100U);
    for (std::uint32_t n = 0; n < 100; n += 2)
        kernel.end_process(1000 + n);
    keep_until(12 * qos::second);
    EXPECT_EQ(reports.back().tenants[1].tasks, 50U);
    gpu_goals.reset();
    EXPECT_TRUE(comes_true([&] { return keepers().empty(); }));
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> last;
    for (const auto &change : kernel.changes())
        if (change.command == driver_test::rm::SetTimeslice::command)
            last[{change.client, change.object}] = change.value;
    for (const auto &[object, value] : last)
        if (kernel.others.contains(object.first)) {
            EXPECT_EQ(value, 2000U);
        }
}

/// The tenant's process has ended, and another process has its pid.
TEST_F(Kept, ReusedPidIsNotTheTenant) {
    sim.set_bursts(1, simulated::always());
    start({"557=cap:30%"});
    keep_until(300 * ms);
    kernel.end_process(557);
    kernel.add_process(557, {instances[0]});
    kernel.processes[557].started = 77;
    keep_until(7 * qos::second);
    EXPECT_EQ(reports.back().tenants[0].tasks, 0U);
    EXPECT_EQ(reports.back().tenants[1].tasks, 2U);
}

TEST_F(Kept, ConflictingGoalsAreRefusedBeforeAnyChange) {
    start({"557=share:60%", "558=share:45%"});
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->exit, nvqos::refused);
    EXPECT_NE(refused->sentence.find("add up to 105 %, and at most 99.328 % can be promised"),
              std::string::npos)
        << refused->sentence;
    EXPECT_EQ(kernel.asked_to_change, 0U);
}

TEST_F(Kept, SetGoalsRefusesConflictsAndTakesOtherGoals) {
    sim.set_bursts(0, simulated::always());
    sim.set_bursts(1, simulated::always());
    start({"557=share:30%"});
    keep_until(qos::second);
    nvqos::Goals other, bad;
    ASSERT_TRUE(nvqos::add_word("557=share:60%", other));
    ASSERT_TRUE(nvqos::add_word("557=share:100%", bad));
    EXPECT_FALSE(gpu_goals->set_goals(bad));
    ASSERT_TRUE(gpu_goals->set_goals(other));
    keep_until(1500 * ms);
    const Ns used = sim.used(0), since = sim.now();
    keep_until(3 * qos::second);
    EXPECT_GE(points(0, since, used), 59);
    EXPECT_LE(points(0, since, used), 62);
}

TEST_F(Kept, DryRunChangesNothing) {
    sim.set_bursts(0, simulated::always());
    start({"557=share:30%", "558=cap:10%"}, {.dry_run = true});
    ASSERT_TRUE(gpu_goals);
    keep_until(500 * ms);
    EXPECT_EQ(kernel.asked_to_change, 0U);
    const std::string table = nvqos::table_of({gpu_goals->plan()});
    EXPECT_NE(table.find("share 30 %"), std::string::npos) << table;
    EXPECT_NE(table.find("cap 10 %"), std::string::npos);
}

TEST_F(Kept, StartFailsWithoutARecordOfSwitches) {
    kernel.has_switches = false;
    start({"557=share:30%"});
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->exit, nvqos::not_supported);
    kernel.has_switches = true;
    kernel.host_numbers = false;
    start({});
    EXPECT_NE(refused->sentence.find("--pid=host"), std::string::npos);
}

// --- the program, as a process ---

class Program : public Served, public testing::WithParamInterface<int> {
  protected:
    /// By the machine's clock, process 557 has the GPU all the time.
    Program() {
        kernel.clock = [] {
            timespec now{};
            clock_gettime(CLOCK_MONOTONIC, &now);
            return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
                   static_cast<std::uint64_t>(now.tv_nsec);
        };
        kernel.switches.push_back({});
        kernel.switches.back().tag = driver_test::rm::SwitchRecord::starts;
        kernel.switches.back().ns = kernel.clock();
        kernel.switches.back().pid = 557;
        kernel.switches.back().context = 1;
    }

    int run(const std::vector<std::string> &words) {
        return nvqos::run(words, [this] {
            return nvdebug::driver::open_tree(bench.kernel, {}).map([](const auto &opened) {
                return nvdebug::Tree(opened);
            });
        });
    }
    pid_t start(const std::vector<std::string> &words) {
        const pid_t child = ::fork();
        if (child == 0)
            ::_exit(run(words));
        return child;
    }
    bool is_paused() const {
        return enabled() == std::vector<bool>{false, false, true, true, true, true};
    }
};

TEST_P(Program, LeavesNothingChangedHoweverItEnds) {
    const auto before = timeslices_us();
    ASSERT_TRUE(gpu.owners()) << "whether the processes live is this one's to say";
    const pid_t child = start({"557=cap:10%", "558=share:20%", "--quiet"});
    ASSERT_TRUE(comes_true([&] { return is_paused(); }));
    EXPECT_TRUE(comes_true([&] { return timeslices_us() != before; }));
    ASSERT_EQ(::kill(child, GetParam()), 0);
    // The keepers of a program that is stopped restore its tasks after a second.
    EXPECT_TRUE(comes_true([&] { return enabled() == all_on && timeslices_us() == before; }));
    if (GetParam() == SIGSTOP) {
        ::kill(child, SIGCONT);
        EXPECT_TRUE(comes_true([&] { return is_paused(); })) << "it goes on";
        ::kill(child, SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(comes_true([&] { return enabled() == all_on && timeslices_us() == before; }));
    if (GetParam() == SIGINT || GetParam() == SIGTERM) {
        EXPECT_TRUE(WIFEXITED(status)) << "it puts back and ends itself";
    }
}

INSTANTIATE_TEST_SUITE_P(Signals, Program,
                         testing::Values(SIGKILL, SIGSTOP, SIGINT, SIGTERM, SIGQUIT, SIGSEGV));

using Ends = Program;

TEST_F(Ends, SighupReadsTheFileAgain) {
    ASSERT_TRUE(gpu.owners());
    const std::string path = testing::TempDir() + "goals." + std::to_string(::getpid()) + ".toml";
    const auto write = [&](const std::string &goal) {
        std::ofstream(path) << "[[tenant]]\ncommand = \"one\"\ngoal = \"" << goal << "\"\n";
    };
    write("share:30%");
    const pid_t child = start({"--file", path, "--quiet"});
    ASSERT_TRUE(comes_true([&] { return timeslices_us()[0] > 2500; }));
    write("cap:10%");
    ::kill(child, SIGHUP);
    EXPECT_TRUE(comes_true([&] { return is_paused(); }));
    // This process may run late and miss that the task runs, so its resumptions are counted.
    const auto resumed = [&] {
        return std::ranges::count_if(
            kernel.changes(), [](const driver_test::StandIn::Change &change) {
                return change.command == nvdebug::driver::rm::DisableChannels::command &&
                       change.value != 0;
            });
    };
    // The cap stays if the file makes no sense, as goals or as TOML.
    for (const char *const text :
         {"[[tenant]]\ncommand = \"one\"\ngoal = \"fast\"\n", "[$tenant]\n", "[[$]]\n",
          "epoch = [1, }\n", "epoch = 1979-05-27Te7:32:00Z\n"}) {
        std::ofstream(path) << text;
        ::kill(child, SIGHUP);
        ::usleep(300'000);
        const auto before = resumed();
        EXPECT_TRUE(comes_true([&] { return resumed() > before; })) << text;
        EXPECT_TRUE(comes_true([&] { return is_paused(); })) << text;
    }
    ::kill(child, SIGTERM);
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(enabled(), all_on);
    std::remove(path.c_str());
}

TEST_F(Ends, StatusSaysWhatHappened) {
    EXPECT_EQ(run({}), nvqos::bad_usage);
    EXPECT_EQ(run({"557=share"}), nvqos::bad_usage);
    EXPECT_EQ(run({"4711=share:30%"}), nvqos::bad_usage) << "no such task";
    EXPECT_EQ(run({"557=share:30%", "--gpu", "7"}), nvqos::bad_usage);
    EXPECT_EQ(run({"557=share:60%", "558=share:45%"}), nvqos::refused);
    kernel.cannot_open["/dev/nvidiactl"] = ENOENT;
    EXPECT_EQ(run({"557=share:30%"}), nvqos::not_supported) << "no driver";
    kernel.cannot_open["/dev/nvidiactl"] = EACCES;
    EXPECT_EQ(run({"557=share:30%"}), nvqos::refused);
    kernel.cannot_open["/dev/nvidiactl"] = EIO;
    EXPECT_EQ(run({"557=share:30%"}), nvqos::failed);
    kernel.cannot_open.clear();
    kernel.has_switches = false;
    EXPECT_EQ(run({"557=share:30%"}), nvqos::not_supported);
    kernel.has_switches = true;
    ASSERT_TRUE(bench.gpu.set_mode("mig", true));
    EXPECT_EQ(run({"557=share:30%", "--for", "300ms"}), nvqos::failed) << "it may be turned off";
    ASSERT_TRUE(bench.gpu.set_mode("mig", false));
    EXPECT_EQ(run({"557=latency:"}), nvqos::bad_usage);
    EXPECT_EQ(run({"557=share:30%", "--dry-run", "--json"}), nvqos::done);
    EXPECT_EQ(kernel.asked_to_change, 0U);
    EXPECT_EQ(run({"557=share:30%", "--for", "300ms", "--quiet"}), nvqos::done);
    // The record comes late, so that for a second no goal can be kept.
    kernel.switches.push_back(kernel.switches.back());
    kernel.switches.back().tag = driver_test::rm::SwitchRecord::ends;
    kernel.switches.back().ns = kernel.clock() + 5'000'000'000;
    EXPECT_EQ(run({"557=cap:30%", "--for", "300ms", "--quiet"}), nvqos::partial);
    EXPECT_EQ(enabled(), all_on);
}

/// A reader of stdout that does not read does not keep nvqos from keeping goals and ending.
TEST_F(Ends, StoppedReaderDoesNotPreventIt) {
    ASSERT_TRUE(gpu.owners());
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ASSERT_GE(::fcntl(ends[1], F_SETPIPE_SZ, 4096), 4096);
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(ends[1], STDOUT_FILENO);
        ::_exit(run({"557=share:30%", "--epoch", "30ms", "--for", "600ms", "--json"}));
    }
    int status = -1;
    EXPECT_TRUE(comes_true([&] { return ::waitpid(child, &status, WNOHANG) == child; }));
    EXPECT_EQ(status, 0);
    ::kill(child, SIGKILL);
    ::close(ends[0]);
    ::close(ends[1]);
}

/// Prometheus reads a whole file at any moment, and no file after the end.
TEST_F(Ends, MetricsFileIsRemoved) {
    ASSERT_TRUE(gpu.owners());
    const std::string path = testing::TempDir() + "qos." + std::to_string(::getpid()) + ".prom";
    const pid_t child = start({"557=share:30%,cap:60%", "--quiet", "--metrics", path});
    const auto has = [&](const std::string &line) {
        std::ifstream file(path);
        const std::string all{std::istreambuf_iterator<char>(file), {}};
        return all.find("\n" + line) != std::string::npos;
    };
    EXPECT_TRUE(comes_true(
        [&] { return has("nvqos_goal_ratio{gpu=\"0\",tenant=\"557\",number=\"0\"} 0.3\n"); }));
    EXPECT_TRUE(has("nvqos_cap_ratio{gpu=\"0\",tenant=\"557\",number=\"0\"} 0.6\n"));
    EXPECT_TRUE(has("nvqos_tasks{gpu=\"0\",tenant=\"others\",number=\"0\"} 1\n"));
    ::kill(child, SIGTERM);
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_NE(::access(path.c_str(), F_OK), 0);
    EXPECT_EQ(run({"557=share:30%", "--quiet", "--metrics", "/nonexistent/qos.prom"}),
              nvqos::bad_usage);
    EXPECT_EQ(kernel.asked_to_change, 0U) << "before anything is changed";
}

TEST(Metrics, CountAndEscape) {
    nvqos::Report report{3, {0, 0, 0, true, {}}, {}, 7};
    report.tenants.push_back(
        {"a\"b\\c\nd", {.aim = Aim::share, .part = 25 * point}, {}, 2 * ms, {}, 1, 1, 4});
    report.tenants.push_back({"others", {}, {}, 0, {}, 0, 0, 0});
    report.tenants[0].record.seen = {40 * ms, 60 * ms, 5};
    report.reads = report.requests = {34, 3 * ms};
    nvqos::Metrics metrics;
    metrics.add(report);
    metrics.add(report);
    const std::string text = metrics.text();
    const std::string labels = "{gpu=\"3\",tenant=\"a\\\"b\\\\c\uFFFDd\",number=\"0\"} ";
    for (const std::string &line :
         {"nvqos_used_seconds_total" + labels + "0.08\n", "nvqos_turns_total" + labels + "10\n",
          "nvqos_credit_seconds" + labels + "0.002\n", "nvqos_violations_total" + labels + "4\n",
          std::string("nvqos_epochs_total{gpu=\"3\"} 2\n"),
          std::string("nvqos_lost_switches_total{gpu=\"3\"} 7\n"),
          std::string("nvqos_driver_reads_seconds_total{gpu=\"3\"} 0.003\n"),
          std::string("nvqos_driver_requests_total{gpu=\"3\"} 34\n"),
          std::string("nvqos_overcommitted{gpu=\"3\"} 1\n"),
          std::string("# TYPE nvqos_used_seconds_total counter\n")})
        EXPECT_NE(text.find(line), std::string::npos) << line << text;
    EXPECT_EQ(text.find("nvqos_wait_p99_seconds"), std::string::npos) << "there are too few";
    EXPECT_EQ(text.find("nvqos_goal_ratio{gpu=\"3\",tenant=\"others\""), std::string::npos);
    metrics.set_up(3, true);
    metrics.set_up(4, true);
    EXPECT_NE(metrics.text().find("nvqos_up{gpu=\"3\"} 1\nnvqos_up{gpu=\"4\"} 1\n"),
              std::string::npos);
    metrics.clear();
    metrics.set_up(4, false);
    EXPECT_NE(metrics.text().find("nvqos_up{gpu=\"3\"} 1\nnvqos_up{gpu=\"4\"} 0\n"),
              std::string::npos);
    EXPECT_EQ(metrics.text().find("nvqos_epochs_total"), std::string::npos);
    metrics.add(report);
    metrics.set_up(3, false);
    EXPECT_EQ(metrics.text().find("nvqos_epochs_total"), std::string::npos)
        << "what was before it was left out";
}

/// tests/exporter/test_exporter_prometheus.py has a line of this form.
TEST(Metrics, HaveALineForEachContainer) {
    nvqos::TenantReport tenant{"job:1", {}, {}, 0, {}, 2, 0, 0};
    tenant.containers = {{{.container = "c1", .pod = "p1"}, 1, {}},
                         {{.pod = "p2"}, 3, nvdebug::base::PodName{"team-a", "vllm-0", "server"}}};
    nvqos::Metrics metrics;
    metrics.add({3, {}, {tenant}, 0});
    const std::string text = metrics.text();
    const std::string begin =
        "nvqos_pod_tasks{gpu=\"3\",tenant=\"job:1\",number=\"0\",task_container=";
    for (const char *const line :
         {"\"c1\",task_pod=\"p1\",task_namespace=\"\",task_pod_name=\"\",task_container_name=\"\"} "
          "1\n",
          "\"\",task_pod=\"p2\",task_namespace=\"team-a\",task_pod_name=\"vllm-0\","
          "task_container_name=\"server\"} 3\n"})
        EXPECT_NE(text.find(begin + line), std::string::npos) << line << text;
}

TEST(Metrics, CountForEachTenantThoughOthersComeAndGo) {
    const nvqos::TenantReport idle{"idle", {}, {}, 0, {}, 0, 0, 0};
    nvqos::TenantReport busy = idle;
    busy.name = "busy";
    busy.record.seen = {10 * ms, 10 * ms, 1};
    nvqos::Metrics metrics;
    metrics.add({3, {}, {busy, busy}, 0});
    metrics.add({3, {}, {idle, busy, busy}, 0});
    busy.record.seen = {20 * ms, 20 * ms, 1};
    metrics.add({3, {}, {busy, idle, busy}, 0});
    const std::string used = "nvqos_used_seconds_total{gpu=\"3\",tenant=", text = metrics.text();
    for (const char *const line : {"\"busy\",number=\"0\"} 0.04\n", "\"busy\",number=\"1\"} 0.04\n",
                                   "\"idle\",number=\"0\"} 0\n"})
        EXPECT_NE(text.find(used + line), std::string::npos) << line << text;
}

/// tests/qos/test_qos.py checks these lines against the schema, and ends the program when it has
/// read enough.
TEST_F(Ends, PrintsALineForEachEpoch) {
    const char *const longest = std::getenv("NVQOS_TESTS_FOR");
    EXPECT_EQ(run({"557=share:30%,cap:60%", "command:two=latency", "--for",
                   longest ? longest : "300ms", "--json"}),
              nvqos::done);
    EXPECT_EQ(enabled(), all_on);
}

} // namespace
} // namespace served
