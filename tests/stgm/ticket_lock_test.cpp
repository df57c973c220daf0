// SPDX-License-Identifier: MIT OR GPL-2.0
// The locks and levels of running tasks, with real processes that are killed.
#include <array>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/stgm/fit.hpp"
#include "lib/stgm/levels.hpp"
#include "lib/stgm/ticket_lock.hpp"
#include "sets.hpp"

namespace stgm {
namespace {

struct Memory {
    TicketLock ticket_lock;
    std::atomic<int> inside, order[TicketLock::slots], next, wrong;
};

class Shared {
  public:
    Shared()
        : memory_(static_cast<Memory *>(mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE,
                                             MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
        memory_->ticket_lock.init();
    }
    ~Shared() { munmap(memory_, sizeof(Memory)); }
    Memory *operator->() const { return memory_; }

    pid_t start(const std::function<void(Memory &)> &body) const {
        const pid_t pid = fork();
        if (!pid) {
            alarm(60);
            body(*memory_);
            _exit(0);
        }
        return pid;
    }
    void until(const std::function<bool(Memory &)> &condition) const {
        for (int n = 0; !condition(*memory_); n++) {
            if (n > 300'000) { // 30 s and more
                ADD_FAILURE() << "waits for ever";
                std::abort(); // processes that wait for this one would hang, too
            }
            usleep(100);
        }
    }

  private:
    Memory *memory_;
};

int wait_for(pid_t pid) {
    int status = -1;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    return status;
}

void kill_and_wait(pid_t pid) {
    kill(pid, SIGKILL);
    EXPECT_TRUE(WIFSIGNALED(wait_for(pid)));
}

class TicketLockOf : public testing::TestWithParam<bool> {};

TEST_P(TicketLockOf, ServesRequestsInOrder) {
    const bool spin = GetParam();
    const Shared shared;
    shared->ticket_lock.take(0, spin);
    std::vector<pid_t> tasks;
    for (const std::size_t slot : {3, 1, 2}) {
        tasks.push_back(shared.start([&](Memory &memory) {
            memory.ticket_lock.take(slot, spin);
            memory.order[memory.next++] = static_cast<int>(slot);
            memory.ticket_lock.leave(slot);
        }));
        shared.until([&](Memory &memory) { return memory.ticket_lock.waits(slot); });
    }
    EXPECT_EQ(shared->next, 0);
    shared->ticket_lock.leave(0);
    for (const pid_t task : tasks)
        EXPECT_EQ(wait_for(task), 0);
    EXPECT_EQ(shared->order[0], 3);
    EXPECT_EQ(shared->order[1], 1);
    EXPECT_EQ(shared->order[2], 2);
}

TEST_P(TicketLockOf, KilledHolderLetsGo) {
    const bool spin = GetParam();
    const Shared shared;
    const pid_t holder = shared.start([&](Memory &memory) {
        memory.ticket_lock.take(0, spin);
        pause();
    });
    shared.until([](Memory &memory) { return memory.ticket_lock.is_in(0); });
    const pid_t waiter = shared.start([&](Memory &memory) { memory.ticket_lock.take(1, spin); });
    shared.until([](Memory &memory) { return memory.ticket_lock.waits(1); });
    kill_and_wait(holder);
    EXPECT_TRUE(shared->ticket_lock.waits(1));
    shared->ticket_lock.leave_for_ended(0);
    EXPECT_EQ(wait_for(waiter), 0);
    EXPECT_TRUE(shared->ticket_lock.is_in(1));
}

TEST_P(TicketLockOf, KilledWaiterIsSkipped) {
    const bool spin = GetParam();
    const Shared shared;
    shared->ticket_lock.take(0, false);
    const pid_t waiter = shared.start([&](Memory &memory) { memory.ticket_lock.take(1, spin); });
    shared.until([](Memory &memory) { return memory.ticket_lock.waits(1); });
    kill_and_wait(waiter);
    shared->ticket_lock.leave_for_ended(1);
    shared->ticket_lock.leave(0);
    shared->ticket_lock.take(2, false); // returns
    EXPECT_TRUE(shared->ticket_lock.is_in(2));
}

INSTANTIATE_TEST_SUITE_P(Waiting, TicketLockOf, testing::Bool(),
                         [](const auto &one) { return one.param ? "spin" : "sleep"; });

/** As kernels do: B waits for C, and A waits for B, although A and C share no SM. */
TEST(TicketLock, RequestWaitsForAnEarlierWaiter) {
    enum : std::size_t { a, b, c, d };
    const Shared shared;
    shared->ticket_lock.let_together(a, c);
    for (const std::size_t other : {a, b, c})
        shared->ticket_lock.let_together(d, other);
    shared->ticket_lock.take(c, false);
    const pid_t second = shared.start([](Memory &memory) { memory.ticket_lock.take(b, false); });
    shared.until([](Memory &memory) { return memory.ticket_lock.waits(b); });
    const pid_t third = shared.start([](Memory &memory) { memory.ticket_lock.take(a, false); });
    shared.until([](Memory &memory) { return memory.ticket_lock.waits(a); });
    shared->ticket_lock.take(d, false); // slot d excludes no other slot
    shared->ticket_lock.leave(c);
    EXPECT_EQ(wait_for(second), 0);
    EXPECT_TRUE(shared->ticket_lock.waits(a));
    shared->ticket_lock.leave(b);
    EXPECT_EQ(wait_for(third), 0);
}

/** As a core does: a larger level goes first, and equal levels go in the order of requests. A
 * holder keeps the lock, but finds by is_asked_for() that a larger level waits. */
TEST(TicketLock, LevelsGoBeforeTheOrderOfRequests) {
    enum : std::size_t { low, middle, high, also_high };
    const Shared shared;
    TicketLock &core = shared->ticket_lock;
    core.take(low, false, 1);
    core.ask(middle, 2);
    EXPECT_TRUE(core.is_asked_for(low));
    core.set_level(low, 3); // boosted
    EXPECT_FALSE(core.is_asked_for(low));
    core.ask(high, 3);
    core.ask(also_high, 3);
    EXPECT_FALSE(core.is_asked_for(low)); // the waiting task has the same level
    core.set_level(low, 1);
    EXPECT_TRUE(core.is_asked_for(low));
    const Time left = core.leave(low);
    EXPECT_TRUE(core.is_in(high));
    EXPECT_GE(core.granted_at(high), left);
    core.ask(low, 1);
    EXPECT_FALSE(core.is_asked_for(high));
    for (const auto &[leaves, next] :
         {std::pair{high, also_high}, {also_high, middle}, {middle, low}}) {
        core.leave(leaves);
        EXPECT_TRUE(core.is_in(next));
    }
    EXPECT_FALSE(core.is_asked_for(low));
}

/** Kills processes at any moment. No two slots hold the lock together, and none waits
 * forever. */
TEST(TicketLock, SurvivesKillsAtAnyMoment) {
    constexpr std::size_t tasks = 4;
    constexpr int kills = 150;
    const Shared shared;
    const auto body = [](std::size_t slot) {
        return [slot](Memory &memory) {
            for (;;) {
                memory.ticket_lock.take(slot, slot % 2);
                const int other = memory.inside.exchange(static_cast<int>(slot) + 1);
                // A process that was killed inside has left its number, but holds no slot.
                if (other && memory.ticket_lock.is_in(static_cast<std::size_t>(other) - 1) &&
                    static_cast<std::size_t>(other) - 1 != slot)
                    memory.wrong++;
                memory.next++;
                memory.inside = 0;
                memory.ticket_lock.leave(slot);
            }
        };
    };
    std::array<pid_t, tasks> pids{};
    for (std::size_t slot = 0; slot < tasks; slot++)
        pids[slot] = shared.start(body(slot));
    for (int n = 0; n < kills; n++) {
        const std::size_t slot = static_cast<std::size_t>(n) % tasks;
        const int before = shared->next;
        shared.until([&](Memory &memory) { return memory.next != before; }); // the others go on
        usleep(static_cast<useconds_t>(n * 7 % 50));
        kill_and_wait(pids[slot]);
        shared->ticket_lock.leave_for_ended(slot);
        pids[slot] = shared.start(body(slot));
    }
    for (std::size_t slot = 0; slot < tasks; slot++) {
        kill_and_wait(pids[slot]);
        shared->ticket_lock.leave_for_ended(slot);
    }
    EXPECT_EQ(shared->wrong, 0);
    for (std::size_t slot = 0; slot < tasks; slot++)
        EXPECT_FALSE(shared->ticket_lock.is_in(slot) || shared->ticket_lock.waits(slot));
}

TEST(Levels, FollowPrioritiesWithTheBoostAboveAll) {
    TaskSet set{.time_unit = "us", .cores = 1, .sms = 1};
    for (const Time period : {300, 100, 200})
        set.tasks.push_back(task(std::to_string(period), period, {cpu(1)}, 0));
    const auto levels = levels_of(set);
    EXPECT_LT(levels[0].base, levels[2].base);
    EXPECT_LT(levels[2].base, levels[1].base);
    for (const Levels &one : levels) {
        EXPECT_LT(levels[1].base, one.boosted);
        EXPECT_EQ(one.boosted, levels[0].boosted);
        EXPECT_LT(one.boosted, one.launching);
    }
    set.tasks.assign(most_levels, set.tasks[0]);
    for (const Levels &one : levels_of(set)) {
        EXPECT_GE(one.base, 1);
        EXPECT_LT(one.launching, 98); // the level from which nvstgm watches the tasks
    }
}

TEST(Fit, FindsTheLargestAmountThatIsShortEnough) {
    for (const Time overhead : {0, 7, 100})
        for (const Time each : {1, 3, 50})
            for (const Time target : {99, 100, 101, 1000, 123'456}) {
                Time most_measured = 0;
                const auto time = [&](std::int64_t amount) {
                    most_measured = std::max(most_measured, amount);
                    return overhead + each * amount;
                };
                constexpr std::int64_t most = 5000;
                const std::int64_t found = fit(target, most, time),
                                   best = std::min(most, (target - overhead) / each);
                if (overhead + each > target) {
                    EXPECT_EQ(found, 0);
                    continue;
                }
                EXPECT_LE(overhead + each * found, target);
                EXPECT_GE(found, best - best / 50 - 1);
                EXPECT_LE(most_measured, most);
            }
}

} // namespace
} // namespace stgm
