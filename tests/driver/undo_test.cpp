// SPDX-License-Identifier: MIT OR GPL-2.0
// Undoes changes while NVIDIA's driver refuses to. Holds, leases and requests end with everything
// as it was before, whichever change is refused.
#include "steering.hpp"

#include <csignal>
#include <sys/wait.h>

namespace driver_test {
namespace {

using nvdebug::ErrorCode;
using nvdebug::TaskHold;
using nvdebug::TaskState;
using std::chrono::milliseconds;

/// More than the calls for one list of channels and for each channel alone, and more than the owner
/// waits for.
constexpr std::uint64_t often = 12, for_ever = 1'000'000'000;

class Undoing : public Steering {
  protected:
    std::unique_ptr<TaskHold> hold(const std::vector<std::uint32_t> &pids,
                                   milliseconds patience = Steering::patience) {
        return Steering::hold(pids, {.patience = patience, .report_left = [this](const auto &left) {
                                         reported.push_back(left);
                                     }});
    }
    /// Asks for a state. Returns whether it was reached.
    static bool try_to(TaskHold &held, const TaskState &state) {
        const auto asked = held.ask(state);
        const auto done = held.finish();
        return asked && done;
    }
    bool is_as_before() { return enabled() == all_on && timeslices_us() == before; }
    void expect_as_before() {
        EXPECT_TRUE(comes_true([&] { return is_as_before(); }))
            << testing::PrintToString(enabled()) << testing::PrintToString(timeslices_us());
    }

    const std::vector<std::uint64_t> before = timeslices_us();
    const TaskState changed{.timeslice_ns = 512'000, .paused = true};
    std::vector<std::string> reported;
};

// --- one refusal, or several ---

class RefusedFor : public Undoing, public testing::WithParamInterface<std::uint64_t> {};

TEST_P(RefusedFor, AResumeIsRepeatedWithoutAnotherRequest) {
    auto held = hold({557});
    ASSERT_TRUE(try_to(*held, {.paused = true}));
    kernel.refuse_from(1, GetParam());
    try_to(*held, {});
    expect_as_before();
    EXPECT_EQ(kernel.refused(), GetParam());
    held.reset();
    expect_as_before();
    auto again = hold({557});
    ASSERT_TRUE(try_to(*again, {.paused = true}));
    ASSERT_TRUE(try_to(*again, {}));
    again.reset();
    expect_as_before();
}

TEST_P(RefusedFor, AKilledOwnersTaskIsRestored) {
    ASSERT_TRUE(gpu.owners());
    const pid_t owner = ::fork();
    if (owner == 0) {
        const auto held =
            gpu.hold(std::vector<std::uint32_t>{557}, {.patience = milliseconds(60'000)});
        if (!held || !(*held)->ask(changed) || !(*held)->finish())
            ::_exit(1);
        for (;;)
            ::pause();
    }
    ASSERT_TRUE(comes_true([&] { return !enabled()[0] && timeslices_us()[0] == 512; }));
    kernel.refuse_from(1, GetParam());
    ::kill(owner, SIGKILL);
    ::waitpid(owner, nullptr, 0);
    EXPECT_TRUE(comes_true([&] { return keepers().empty(); }));
    EXPECT_EQ(kernel.refused(), GetParam());
    EXPECT_TRUE(is_as_before());
}

TEST_P(RefusedFor, AHoldIsUndoneAfterThePatience) {
    auto held = hold({557}, milliseconds(500));
    ASSERT_TRUE(comes_true([&] { return try_to(*held, changed) && !enabled()[0]; }));
    kernel.refuse_from(1, GetParam());
    expect_as_before();
    EXPECT_EQ(kernel.refused(), GetParam());
}

TEST_P(RefusedFor, TheEndOfAHoldNamesLeftOvers) {
    auto held = hold({557, 558});
    ASSERT_TRUE(try_to(*held, changed));
    const pid_t keeping = keeper();
    kernel.refuse_from(1, GetParam());
    held.reset();
    if (GetParam() == often) {
        ASSERT_EQ(reported.size(), 1U);
        for (const std::string part :
             {"process 557 is still changed ('nvdebugctl task resume 557' undoes it)",
              "'nvdebugctl task set 558 --timeslice 2000us' undoes it", "0x65"})
            EXPECT_NE(reported[0].find(part), reported[0].npos) << reported[0];
        EXPECT_NE(reported[0].find("process " + std::to_string(keeping) + ", tries again"),
                  reported[0].npos)
            << reported[0];
    }
    expect_as_before();
    EXPECT_EQ(kernel.refused(), GetParam());
}

/// If the first thread of a process has ended, descriptors are taken from another thread.
TEST_P(RefusedFor, AKilledKeepersTaskIsRestored) {
    for (const bool without_first_thread : {false, true}) {
        auto held = hold({557});
        ASSERT_TRUE(try_to(*held, changed));
        kernel.processes[557].first_thread_ended = without_first_thread;
        kernel.refuse_from(1, GetParam());
        kill_keepers();
        EXPECT_FALSE(try_to(*held, {}));
        expect_as_before();
        EXPECT_EQ(kernel.refused(), GetParam());
    }
}

TEST_P(RefusedFor, ALeaseIsUndone) {
    auto lease = gpu.lease(pause({557, 558}));
    ASSERT_TRUE(lease) << lease.error().sentence;
    kernel.refuse_from(1, GetParam());
    lease->end();
    if (GetParam() == often) {
        EXPECT_NE(lease->left().find("'nvdebugctl task resume 558'"), std::string::npos)
            << lease->left();
    } else {
        EXPECT_EQ(lease->left(), "");
    }
    expect_as_before();
    EXPECT_TRUE(comes_true([&] { return keepers().empty(); }));
    EXPECT_EQ(kernel.refused(), GetParam());
}

TEST_P(RefusedFor, ALeaseWhoseKeeperWasKilledIsUndone) {
    auto lease = gpu.lease(timeslice({557, 558}, 512));
    ASSERT_TRUE(lease) << lease.error().sentence;
    kernel.refuse_from(1, GetParam());
    kill_keepers();
    lease->end();
    expect_as_before();
    EXPECT_EQ(kernel.refused(), GetParam());
}

/// The second call is refused, and then the undo of the first call.
TEST_P(RefusedFor, ARequestIsUndone) {
    for (const auto &request : {pause({557, 558}), timeslice({557, 558}, 512)})
        for (const bool lease : {false, true}) {
            kernel.refuse_from(2, GetParam());
            const std::string sentence =
                lease ? gpu.lease(request).error().sentence : gpu.perform(request).error().sentence;
            EXPECT_NE(sentence.find(GetParam() == often ? "process 557 is still changed"
                                                        : "nothing is changed"),
                      sentence.npos)
                << sentence;
            expect_as_before();
            EXPECT_TRUE(comes_true([&] { return keepers().empty(); }));
            EXPECT_EQ(kernel.refused(), GetParam());
        }
}

INSTANTIATE_TEST_SUITE_P(Times, RefusedFor, testing::Values(1, often));

/// A keeper ends when its processes have ended.
TEST_F(Undoing, AKeeperLeavesWhenTheProcessesHaveEnded) {
    auto held = hold({557});
    ASSERT_TRUE(try_to(*held, changed));
    kernel.refuse_from(1, for_ever);
    held.reset();
    ASSERT_EQ(reported.size(), 1U);
    ASSERT_EQ(keepers().size(), 1U);
    kernel.end_process(557);
    EXPECT_TRUE(comes_true([&] { return keepers().empty(); }));
}

/// If a list of channels is always refused, its channels are enabled one by one.
TEST_F(Undoing, AListThatIsRefusedIsRepeatedOneByOne) {
    // Keepers inherit this function when they are forked.
    kernel.refuses = [](const rm::Control &asked) -> std::uint32_t {
        if (asked.command != rm::DisableChannels::command)
            return rm::ok;
        rm::DisableChannels list{};
        std::memcpy(&list, reinterpret_cast<const void *>(asked.params), sizeof(list));
        return !list.disable && list.count > 1 ? std::uint32_t{0x65} : std::uint32_t{rm::ok};
    };
    auto held = hold({557});
    ASSERT_TRUE(try_to(*held, {.paused = true}));
    ASSERT_FALSE(enabled()[0]);
    EXPECT_TRUE(try_to(*held, {}));
    EXPECT_EQ(enabled(), all_on);
    ASSERT_TRUE(try_to(*held, {.paused = true}));
    held.reset();
    EXPECT_EQ(enabled(), all_on);
    EXPECT_TRUE(reported.empty());
}

// --- each change refused ---

enum class Way { hold_ends, owner_is_killed, patience_is_over, lease, lease_is_killed };
struct Case {
    Way way;
    std::uint64_t times;
    bool all_the_same; ///< a refused change is made anyway
};

class EachRefused : public Undoing, public testing::WithParamInterface<Case> {
  protected:
    void use(TaskHold &held) {
        for (const TaskState &state :
             {TaskState{.timeslice_ns = 512'000},
              TaskState{.timeslice_ns = 700'000, .paused = true}, TaskState{},
              TaskState{.paused = true}, TaskState{.timeslice_ns = 600'000},
              TaskState{.timeslice_ns = 512'000, .paused = true}})
            try_to(held, state);
    }

    template <typename Use>
    static void use_and_be_killed(Use work) {
        const pid_t owner = start_owner(work);
        ASSERT_GT(owner, 0);
        kill_owner(owner);
    }

    void run() {
        const std::vector<std::uint32_t> pids = {557, 558};
        switch (GetParam().way) {
        case Way::hold_ends:
            if (const auto held = hold(pids))
                use(*held);
            break;
        case Way::owner_is_killed:
            use_and_be_killed([&](const auto &wait) {
                const auto held = gpu.hold(pids, {.patience = milliseconds(60'000)});
                if (held)
                    use(**held);
                wait();
            });
            break;
        case Way::patience_is_over: {
            const auto held = hold(pids, milliseconds(300));
            use(*held);
            expect_as_before();
            break;
        }
        case Way::lease: {
            auto paused = gpu.lease(pause(pids));
            auto set = gpu.lease(timeslice(pids, 512));
            break;
        }
        case Way::lease_is_killed:
            use_and_be_killed([&](const auto &wait) {
                const auto paused = gpu.lease(pause(pids));
                const auto set = gpu.lease(timeslice(pids, 512));
                wait();
            });
            break;
        }
        expect_as_before();
        EXPECT_TRUE(comes_true([&] { return keepers().empty(); }));
        EXPECT_TRUE(is_as_before());
    }
};

TEST_P(EachRefused, EndsWithEverythingAsBefore) {
    ASSERT_TRUE(gpu.owners());
    kernel.refuse_from(for_ever);
    run();
    const std::uint64_t all = kernel.asked_by_all();
    ASSERT_GE(all, 6U);
    for (std::uint64_t n = 1; n <= all && !HasFailure(); n++) {
        SCOPED_TRACE("change " + std::to_string(n) + " of " + std::to_string(all));
        kernel.refuse_from(n, GetParam().times, 0x65, GetParam().all_the_same);
        run();
        // The number of calls depends on the time that requests take, because the patience may end
        // first.
        EXPECT_TRUE(kernel.refused() >= 1 || n > 1);
    }
}

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const Way way : {Way::hold_ends, Way::owner_is_killed, Way::patience_is_over, Way::lease,
                          Way::lease_is_killed})
        for (const auto &[times, all_the_same] :
             {std::pair<std::uint64_t, bool>{1, false}, {1, true}, {7, false}})
            all.push_back({way, times, all_the_same});
    return all;
}

INSTANTIATE_TEST_SUITE_P(Ways, EachRefused, testing::ValuesIn(cases()));

} // namespace
} // namespace driver_test
