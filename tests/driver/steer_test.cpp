// SPDX-License-Identifier: MIT OR GPL-2.0
// Makes requests through the stand-in for NVIDIA's driver, which has the tasks' processes. The
// keeper of a lease is really forked.
#include "steering.hpp"

#include "lib/nvdebug/tree_impl.hpp"
#include "nvdebug/gpu.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

namespace driver_test {
namespace {

using nvdebug::ErrorCode;
using nvdebug::Target;

// --- requests by hardware ids ---

TEST_F(Steering, ChannelsAreDisabledAndEnabled) {
    ASSERT_TRUE(gpu.perform(nvdebug::disable_channels({{0, 1}, {0, 2}})));
    EXPECT_EQ(enabled(), (std::vector<bool>{true, false, false, true, true, true}));
    ASSERT_TRUE(gpu.perform(nvdebug::enable_channels({{{}, 2}})));
    EXPECT_EQ(enabled(), (std::vector<bool>{true, false, true, true, true, true}));
    const std::size_t before = kernel.changes().size();
    ASSERT_TRUE(gpu.perform(nvdebug::enable_channels({{0, 1}, {0, 2}})));
    EXPECT_EQ(enabled(), all_on);
    std::size_t made = 0;
    for (std::size_t n = before; n < kernel.changes().size(); n++)
        made += kernel.changes()[n].command == rm::DisableChannels::command;
    EXPECT_EQ(made, 1U) << "what is so already is left alone";
}

TEST_F(Steering, ATimesliceIsSetAndAnswered) {
    const auto answer = gpu.perform(nvdebug::set_timeslice({0, 1}, 512'000));
    ASSERT_TRUE(answer) << answer.error().sentence;
    const auto change = nvdebug::parse_timeslice_change(*answer);
    ASSERT_TRUE(change) << *answer;
    EXPECT_EQ(change->runlist, 0U);
    EXPECT_EQ(change->tsg, 1U);
    EXPECT_EQ(change->asked_ns, 512'000U);
    EXPECT_EQ(change->new_ns, 512'000U);
    EXPECT_NEAR(static_cast<double>(change->old_ns), 2e6, 2e4);
    EXPECT_EQ(change->timeout, 250U);
    EXPECT_EQ(change->headers, 1U);
    EXPECT_EQ(timeslices_us()[1], 512U);
}

TEST_F(Steering, TimeslicesAreSetTogether) {
    const std::vector<nvdebug::TsgTimeslice> all = {{{0, 0}, 8'000'000}, {{0, 1}, 512'000}};
    ASSERT_TRUE(gpu.perform(nvdebug::set_timeslices(all)));
    EXPECT_NEAR(static_cast<double>(timeslices_us()[0]), 8000, 80);
    EXPECT_EQ(timeslices_us()[1], 512U);
}

TEST_F(Steering, TsgsArePreempted) {
    ASSERT_TRUE(gpu.perform(nvdebug::preempt_tsgs({{0, 0}, {0, 1}})));
    std::multiset<std::uint32_t> clients;
    for (const auto &change : kernel.changes())
        if (change.command == rm::Preempt::command)
            clients.insert(change.client);
    EXPECT_EQ(clients, (std::multiset<std::uint32_t>{first, second}));
}

TEST_F(Steering, RefusesObjectsWithoutAKnownProcess) {
    expect_error(gpu.perform(nvdebug::disable_channels({{0, 0}, {0, 4}})), ErrorCode::unsupported,
                 "channel 0:4 belongs to no known process");
    expect_error(gpu.perform(nvdebug::set_timeslice({0, 2}, 512'000)), ErrorCode::unsupported,
                 "TSG 0:2 belongs to no known process");
    EXPECT_EQ(enabled(), all_on);
    EXPECT_EQ(kernel.asked_to_change, 0U);
}

TEST_F(Steering, OtherControlsTakeTheModule) {
    expect_error(gpu.perform(nvdebug::switch_to_tsg({0, 0})), ErrorCode::unsupported,
                 "takes the module");
    expect_error(gpu.perform(nvdebug::preempt_runlists({0})), ErrorCode::unsupported,
                 "takes the module");
}

TEST_F(Steering, RequestsThatMakeNoSenseAreRefused) {
    const std::pair<const char *, const char *> requests[] = {
        {"disable_channel", ""},
        {"disable_channel", "x"},
        {"disable_channel", "0:99"},
        {"disable_channel", "9:0"},
        {"set_timeslice", "0:0"},
        {"set_timeslice", "0:0 x"},
        {"set_timeslice", "0:0 0.000"},
        {"set_timeslice", "0:0 99999999.000"},
        {"set_timeslice", "0:0 1.2345"},
        {"set_timeslice", "0:0 500.000 0 700.000"},
        {"pause_task", ""},
        {"pause_task", "0:557"},
        {"pause_task", "557 557"},
        {"pause_task", "lease"},
        {"preempt_task", "lease 557"},
        {"set_task_timeslice", "557"},
        {"set_task_interleave", "huge 557"},
        {"set_task_preemption", "cilp"},
    };
    for (const auto &[file, text] : requests) {
        const auto done = gpu.perform({file, text, true});
        ASSERT_FALSE(done) << file << " " << text;
        EXPECT_NE(done.error().sentence, "") << file << " " << text;
        EXPECT_NE(done.error().path.find(file), std::string::npos);
    }
    EXPECT_EQ(kernel.asked_to_change, 0U);
}

// --- requests by process ---

TEST_F(Steering, ATaskIsPausedAndResumed) {
    ASSERT_TRUE(gpu.perform(pause({558})));
    EXPECT_EQ(enabled(), (std::vector<bool>{true, true, false, false, true, true}));
    const std::vector<std::uint32_t> both = {557, 558};
    ASSERT_TRUE(gpu.perform(nvdebug::resume_tasks(both)));
    EXPECT_EQ(enabled(), all_on);
}

TEST_F(Steering, ATaskGetsATimeslice) {
    const std::vector<std::uint32_t> one = {557};
    ASSERT_TRUE(gpu.perform(timeslice(one, 512)));
    EXPECT_EQ(timeslices_us()[0], 512U);
    ASSERT_TRUE(gpu.perform(nvdebug::preempt_tasks(one)));
}

/// Measured on an H100: the driver accepts the level, but does not return it, and lists stay the
/// same.
TEST_F(Steering, AnInterleaveLevelThatShowsNowhereIsPutBack) {
    const std::vector<std::uint32_t> one = {557};
    for (const bool tells : {true, false}) {
        kernel.tells_interleave = tells;
        const std::size_t before = kernel.changes().size();
        expect_error(gpu.perform(nvdebug::set_task_interleave(one, nvdebug::Interleave::high)),
                     ErrorCode::unsupported, "lists have the TSGs as often as before");
        std::vector<std::uint64_t> set;
        const auto changes = kernel.changes();
        for (std::size_t n = before; n < changes.size(); n++)
            if (changes[n].command == rm::SetInterleave::command)
                set.push_back(changes[n].value);
        EXPECT_EQ(set, (std::vector<std::uint64_t>{2, tells ? 0U : 1U}));
    }
}

TEST_F(Steering, ATimesliceHasLimits) {
    for (const std::uint64_t us : {0U, 99U, 1'000'001U}) {
        expect_error(gpu.perform(timeslice({557}, us)), ErrorCode::invalid, "100 us to 1 s");
        expect_error(gpu.perform(nvdebug::set_timeslice({0, 0}, us * 1000)), ErrorCode::invalid,
                     "100 us to 1 s");
    }
    EXPECT_TRUE(gpu.perform(timeslice({557}, 100)));
    EXPECT_TRUE(gpu.perform(timeslice({557}, 1'000'000)));
}

TEST_F(Steering, ControlsOwnTasksWithoutRoot) {
    kernel.root = false;
    const nvdebug::Gpu seen(bench.tree(), 0);
    ASSERT_TRUE(seen.perform(pause({557})));
    ASSERT_TRUE(seen.perform(timeslice({557}, 700)));
    std::size_t disabled = 0;
    for (const auto &change : kernel.changes())
        disabled += change.command == rm::DisableChannels::command && !change.value;
    EXPECT_EQ(disabled, 2U);
    const std::vector<std::uint32_t> one = {557};
    expect_error(seen.perform(nvdebug::set_task_interleave(one, nvdebug::Interleave::low)),
                 ErrorCode::denied, "CAP_SYS_NICE");
    expect_error(seen.lease(nvdebug::resume_tasks(one)), ErrorCode::unsupported, "is not known");
    expect_error(seen.perform(nvdebug::disable_channels({{0, 0}})), ErrorCode::not_found, "");
}

TEST_F(Steering, NamesTheProcessesWithChannels) {
    kernel.processes[600].clients = {};
    kernel.processes[601].uses_gpu = false;
    expect_error(gpu.perform(pause({4711})), ErrorCode::not_found, "there is no process 4711");
    expect_error(gpu.perform(pause({600})), ErrorCode::not_found, "though it has the GPU open");
    expect_error(gpu.perform(pause({557, 601})), ErrorCode::not_found,
                 "has no GPU context here; those that have one: one[557], two[558]");
    kernel.processes[558].denied = true;
    expect_error(gpu.perform(pause({557, 558})), ErrorCode::denied, "CAP_SYS_PTRACE");
    kernel.files["/proc/sys/kernel/yama/ptrace_scope"] = "2\n";
    expect_error(gpu.perform(pause({558})), ErrorCode::denied, "ptrace_scope is 0 (it is 2 here)");
    kernel.processes[558].denied = false;
    kernel.processes[558].hidden = true;
    expect_error(gpu.perform(pause({558})), ErrorCode::denied, "this user lacks");
    EXPECT_EQ(kernel.asked_to_change, 0U);
}

TEST_F(Steering, ChangesASharedTsgForAllProcessesOrNone) {
    // With MPS, 558 would have a channel in the TSG of 557.
    const std::uint64_t instance = std::next(ids.begin())->first;
    for (auto &[name, object] : kernel.others[second])
        if (object.instance.address)
            object.instance.address = instance;
    for (auto &[name, object] : kernel.others[first])
        if (object.instance.address)
            object.instance.address = ids.begin()->first;
    expect_error(gpu.perform(timeslice({557}, 512)), ErrorCode::invalid,
                 "one[557] shares TSG 0:0 with two[558] (MPS)");
    EXPECT_TRUE(gpu.perform(timeslice({557, 558}, 512)));
    EXPECT_TRUE(gpu.perform(pause({557}))) << "channels are not shared";
}

// --- all or nothing ---

TEST_F(Steering, UndoesARequestIfOneCallIsRefused) {
    const auto before = timeslices_us();
    for (std::uint64_t n = 1; n <= 2; n++) {
        kernel.asked_to_change = 0;
        kernel.refuse_change = n;
        expect_error(gpu.perform(timeslice({557, 558}, 512)), ErrorCode::unsupported,
                     "refuses with status 0x56");
        EXPECT_EQ(timeslices_us(), before) << n;
        kernel.asked_to_change = 0;
        expect_error(gpu.lease(pause({557, 558})), ErrorCode::unsupported, "refuses");
        EXPECT_EQ(enabled(), all_on) << n;
    }
    kernel.refuse_change = 1;
    kernel.refuse_with = rm::gpu_is_lost;
    kernel.asked_to_change = 0;
    expect_error(gpu.perform(pause({557})), ErrorCode::gone, "the GPU has gone");
    kernel.refuse_with = rm::insufficient_permissions;
    kernel.asked_to_change = 0;
    expect_error(gpu.perform(pause({557, 558})), ErrorCode::denied, "does not permit it");
}

TEST_F(Steering, UndoesARequestWithoutEffect) {
    kernel.takes_without_effect = true;
    expect_error(gpu.perform(timeslice({557}, 512)), ErrorCode::unsupported,
                 "the timeslice of TSG 0:0 is still");
    const auto changes = kernel.changes();
    std::vector<std::uint64_t> set;
    for (const auto &change : changes)
        if (change.command == rm::SetTimeslice::command)
            set.push_back(change.value);
    EXPECT_EQ(set, (std::vector<std::uint64_t>{512, 2000}));
    expect_error(gpu.perform(pause({557})), ErrorCode::unsupported, "is still enabled");
    expect_error(gpu.lease(pause({557})), ErrorCode::unsupported, "is still enabled");
}

TEST_F(Steering, SurvivesTheEndOfAProcessAtEachQuery) {
    const StandIn::Process process = kernel.processes[557];
    const StandIn::Objects objects = kernel.others[first];
    const auto before = timeslices_us();
    kernel.questions = 0;
    ASSERT_TRUE(gpu.perform(timeslice({558, 557}, 2000)));
    const std::uint64_t all = kernel.questions;
    std::set<bool> results;
    for (std::uint64_t n = 1; n <= all; n += n > all - 12 ? 1 : 89) {
        kernel.questions = 0;
        kernel.before_question = [&] {
            if (kernel.questions != n)
                return;
            kernel.processes.erase(557);
            kernel.others.erase(first);
        };
        const std::size_t open = kernel.open_files();
        const auto done = gpu.perform(timeslice({558, 557}, 600));
        kernel.before_question = nullptr;
        results.insert(done.has_value());
        EXPECT_EQ(kernel.open_files(), open) << n;
        kernel.wrongs.clear(); // the driver logs the query during which the client ended
        kernel.processes[557] = process;
        kernel.others[first] = objects;
        if (!done) {
            EXPECT_EQ(done.error().code, ErrorCode::not_found) << n << done.error().sentence;
            EXPECT_EQ(timeslices_us()[1], before[1]) << n;
        }
        ASSERT_TRUE(gpu.perform(timeslice({558, 557}, 2000)));
    }
    EXPECT_TRUE(results.contains(false));
}

TEST_F(Steering, RefusesAProcessThatHasJustEnded) {
    kernel.before_take = [&] {
        kernel.before_take = nullptr;
        kernel.end_process(557);
    };
    expect_error(gpu.perform(timeslice({557}, 600)), ErrorCode::not_found,
                 "there is no process 557");
    EXPECT_FALSE(kernel.others.contains(first));
}

TEST_F(Steering, KeepsNoDescriptorOfAnEndedProcess) {
    // The client lives as long as a duplicate of its descriptor is open here.
    kernel.before_question = [&] {
        if (kernel.processes.contains(557))
            kernel.end_process(557);
    };
    static_cast<void>(gpu.perform(timeslice({557}, 600)));
    kernel.before_question = nullptr;
    EXPECT_FALSE(kernel.others.contains(first));
}

TEST_F(Steering, UndoesARequestIfAnyCallFails) {
    const std::vector<std::pair<const char *, const char *>> requests = {
        {"disable_channel", "0:1 0:2"},
        {"set_timeslice", "0:0 512.000"},
        {"pause_task", "557 558"},
        {"set_task_timeslice", "512.000 557 558"}};
    for (const auto &[file, text] : requests) {
        kernel.ioctls = 0;
        ASSERT_TRUE(gpu.perform({file, text, true}));
        const std::uint64_t calls = kernel.ioctls;
        for (std::uint64_t n = calls > 40 ? calls - 40 : 1; n <= calls; n++) {
            ASSERT_TRUE(gpu.perform({"resume_task", "557 558", true}));
            ASSERT_TRUE(gpu.perform({"set_task_timeslice", "2000.000 557 558", true}));
            const auto on = enabled();
            const auto us = timeslices_us();
            const std::size_t open = kernel.open_files();
            kernel.ioctls = 0;
            kernel.fail = n % 2 ? n : 0;
            kernel.fail_with = EIO;
            kernel.deny = n % 2 ? 0 : n;
            kernel.deny_with = rm::not_supported;
            const auto done = gpu.perform({file, text, true});
            kernel.fail = kernel.deny = 0;
            EXPECT_EQ(kernel.open_files(), open) << file << " at call " << n;
            if (done)
                continue;
            EXPECT_NE(done.error().sentence, "") << file << " at call " << n;
            EXPECT_EQ(enabled(), on) << file << " at call " << n;
            EXPECT_EQ(timeslices_us(), us) << file << " at call " << n;
        }
    }
}

TEST_F(Steering, ManyTasksTakeFewCalls) {
    std::vector<std::uint32_t> pids;
    for (std::uint32_t n = 0; n < 64; n++) {
        // The channels are in no list, so lists cannot show the change.
        std::vector<std::uint64_t> instances;
        for (std::uint64_t channel = 0; channel < 70; channel++)
            instances.push_back((1ULL << 33) + (n * 100 + channel) * 4096);
        kernel.add_process(1000 + n, instances);
        kernel.processes[1000 + n].started = 100 + n;
        pids.push_back(1000 + n);
    }
    kernel.effect = nullptr;
    const auto done = gpu.perform(pause(pids));
    ASSERT_TRUE(done) << done.error().sentence;
    EXPECT_EQ(kernel.asked_to_change, 64U * 2) << "up to 64 channels a call";
    std::set<std::pair<std::uint32_t, std::uint32_t>> disabled;
    for (const auto &change : kernel.changes())
        if (change.command == rm::DisableChannels::command && !change.value)
            disabled.insert({change.client, change.object});
    EXPECT_EQ(disabled.size(), 64U * 70);
    auto lease = gpu.lease(timeslice(pids, 600));
    ASSERT_TRUE(lease) << lease.error().sentence;
    lease->end();
    std::map<std::uint32_t, std::uint64_t> last;
    for (const auto &change : kernel.changes())
        if (change.command == rm::SetTimeslice::command)
            last[change.client] = change.value;
    EXPECT_EQ(last.size(), 64U);
    for (const auto &[client, us] : last)
        EXPECT_EQ(us, 2048U);
}

// --- leases ---

TEST_F(Steering, ALeaseIsUndoneByItsKeeper) {
    const auto before = timeslices_us();
    {
        auto lease = gpu.lease(timeslice({557}, 512));
        ASSERT_TRUE(lease) << lease.error().sentence;
        EXPECT_EQ(timeslices_us()[0], 512U);
        EXPECT_EQ(keepers().size(), 1U);
    }
    EXPECT_EQ(timeslices_us(), before);
    const auto changes = kernel.changes();
    const auto last = std::ranges::find(changes.rbegin(), changes.rend(), rm::SetTimeslice::command,
                                        &StandIn::Change::command);
    EXPECT_NE(last->by, ::getpid());
    auto paused = gpu.lease(pause({557, 558}));
    ASSERT_TRUE(paused);
    EXPECT_EQ(std::ranges::count(enabled(), false), 4);
    paused->end();
    EXPECT_EQ(enabled(), all_on);
}

TEST_F(Steering, ALeaseRestoresDisabledChannels) {
    ASSERT_TRUE(gpu.perform(nvdebug::disable_channels({{0, 1}})));
    auto lease = gpu.lease(pause({557}));
    ASSERT_TRUE(lease);
    lease->end();
    EXPECT_EQ(enabled(), (std::vector<bool>{true, false, true, true, true, true}));
    ASSERT_TRUE(gpu.perform(nvdebug::enable_channels({{0, 1}})));
}

/// The driver refuses a call about a freed channel and another one together.
TEST_F(Steering, AChannelThatIsFreedDoesNotKeepTheOthersPaused) {
    auto lease = gpu.lease(pause({557}));
    ASSERT_TRUE(lease);
    auto &objects = kernel.others[first];
    objects.erase(std::ranges::find_if(
        objects, [](const auto &one) { return one.second.object_class == 0xc86f; }));
    ::kill(keeper(), SIGKILL);
    EXPECT_TRUE(comes_true([&] { return keepers().empty(); }));
    lease->end();
    EXPECT_EQ(enabled(), (std::vector<bool>{false, true, true, true, true, true}));
}

TEST_F(Steering, AKilledKeeperIsReplacedByTheHolder) {
    const auto before = timeslices_us();
    auto lease = gpu.lease(timeslice({557}, 512));
    ASSERT_TRUE(lease);
    const pid_t started = keeper();
    ASSERT_GT(started, 0);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGUSR1})
        ::kill(started, signal);
    ::usleep(20'000);
    EXPECT_EQ(keeper(), started) << "but for SIGKILL, signals do not end it";
    ::kill(started, SIGKILL);
    EXPECT_TRUE(comes_true([&] { return keepers().empty(); }));
    EXPECT_EQ(timeslices_us()[0], 512U);
    lease->end();
    EXPECT_EQ(timeslices_us(), before);
    EXPECT_EQ(kernel.changes().rbegin()->by, ::getpid());
}

TEST_F(Steering, ALeaseOfAKilledHolderIsUndone) {
    const auto before = timeslices_us();
    ASSERT_TRUE(gpu.owners()) << "whether the process lives is this one's to say";
    for (const int signal : {SIGKILL, SIGTERM, SIGINT}) {
        int told[2];
        ASSERT_EQ(::pipe(told), 0);
        const pid_t holder = ::fork();
        if (holder == 0) {
            const auto lease = gpu.lease(timeslice({557}, 512));
            const char byte = lease ? 'y' : 'n';
            if (::write(told[1], &byte, 1) == 1)
                ::pause();
            ::_exit(1);
        }
        char byte = 0;
        ASSERT_EQ(::read(told[0], &byte, 1), 1);
        EXPECT_EQ(byte, 'y');
        EXPECT_EQ(timeslices_us()[0], 512U);
        ::kill(holder, signal);
        ::waitpid(holder, nullptr, 0);
        EXPECT_TRUE(comes_true([&] { return timeslices_us() == before; })) << signal;
        ::close(told[0]);
        ::close(told[1]);
    }
}

TEST_F(Steering, AKeeperLetsGoOfWhoHasEnded) {
    auto lease = gpu.lease(timeslice({557, 558}, 512));
    ASSERT_TRUE(lease);
    const std::size_t before = kernel.changes().size();
    kernel.end_process(557);
    EXPECT_FALSE(kernel.others.contains(first)) << "the holder has nothing of it";
    const auto closed = [&] {
        const auto changes = kernel.changes();
        for (std::size_t n = before; n < changes.size(); n++)
            if (changes[n].command == StandIn::closed && changes[n].client == 557)
                return changes[n].by != ::getpid();
        return false;
    };
    EXPECT_TRUE(comes_true(closed)) << "nor the keeper";
    kernel.effect = [this](const StandIn::Change &change) {
        if (change.client != first)
            come_of(change);
    };
    lease->end();
    EXPECT_NE(timeslices_us()[1], 512U) << "the other's is put back";
}

TEST_F(Steering, AKeeperHasNothingElseOpen) {
    auto lease = gpu.lease(timeslice({557}, 512));
    ASSERT_TRUE(lease);
    const pid_t started = keeper();
    ASSERT_GT(started, 0);
    std::size_t open = 0;
    for ([[maybe_unused]] const auto &entry :
         std::filesystem::directory_iterator("/proc/" + std::to_string(started) + "/fd"))
        open++;
    EXPECT_EQ(open, 2U) << "the holder's socket and the process; the stand-in's has no number";
    lease->end();
}

TEST_F(Steering, AKeeperIsNoChildOfItsStarter) {
    {
        auto lease = gpu.lease(timeslice({557}, 512));
        ASSERT_TRUE(lease);
    }
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG | __WALL), -1);
    EXPECT_EQ(errno, ECHILD);
}

TEST_F(Steering, SleepingGpusAreLeftAsleep) {
    kernel.files["/sys/bus/pci/devices/0000:01:00.0/power/runtime_status"] = "suspended\n";
    expect_error(gpu.perform(pause({557})), ErrorCode::gone, "asleep");
}

TEST(SteeringWithMig, FailsWithTheReason) {
    const Bench bench("h200", "three-tasks");
    const auto model = bench.kernel->registers;
    bench.kernel->registers = [&](std::uint32_t offset) {
        constexpr std::uint32_t smcarb_sys_pipe_info = 0xcc80;
        return offset == smcarb_sys_pipe_info ? std::optional<std::uint32_t>(1) : model(offset);
    };
    bench.kernel->add_process(557, {0x1000});
    const std::vector<std::uint32_t> one = {557};
    const auto done = nvdebug::Gpu(bench.tree(), 0).perform(nvdebug::pause_tasks(one));
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().sentence.find("MIG is on"), std::string::npos) << done.error().sentence;
}

} // namespace
} // namespace driver_test
