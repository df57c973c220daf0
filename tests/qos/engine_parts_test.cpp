// SPDX-License-Identifier: MIT OR GPL-2.0
// The parts of the engine on tiny cases that were worked out by hand: schedulers, blocks, memory,
// decisions about blocks and SMs.
#include <gtest/gtest.h>

#include "lab/quotas/engine/adjustment.hpp"
#include "lab/quotas/engine/gpu.hpp"
#include "lab/quotas/engine/placement.hpp"
#include "lab/quotas/engine/spart.hpp"

namespace engine {
namespace {

/** As many warps of kernel 0, all ready. */
Live some_warps(int count) {
    Live live;
    live.unused.resize(1);
    live.add(0, {.threads = count * lanes_of_warp});
    return live;
}

constexpr std::uint64_t all = ~std::uint64_t{0};

TEST(Scheduler, IsGreedyThenOldest) {
    Live live = some_warps(3);
    Scheduler scheduler(1);
    for (int n = 0; n < 3; n++) {
        scheduler.attach(live, n);
        scheduler.set_ready(live.warp(n));
    }
    EXPECT_EQ(scheduler.choose(scheduler.ready(0)), 0) << "the oldest";
    EXPECT_EQ(scheduler.choose(scheduler.ready(0)), 0) << "the same again";
    scheduler.set_waiting(live.warp(0));
    EXPECT_EQ(scheduler.choose(scheduler.ready(0)), 1);
    scheduler.set_ready(live.warp(0));
    EXPECT_EQ(scheduler.choose(scheduler.ready(0)), 1) << "greedy, though 0 is older";
    scheduler.set_waiting(live.warp(1));
    EXPECT_EQ(scheduler.choose(scheduler.ready(0)), 0);
    scheduler.detach(live.warp(0));
    EXPECT_EQ(scheduler.choose(scheduler.ready(0)), 2);
}

TEST(Scheduler, KeepsTheOrderOfAges) {
    Live live = some_warps(70);
    Scheduler scheduler(1);
    for (int n = 0; n < 64; n++) {
        scheduler.attach(live, n);
        scheduler.set_ready(live.warp(n));
    }
    for (int n = 0; n < 62; n++)
        scheduler.detach(live.warp(n));
    scheduler.attach(live, 69);
    scheduler.set_ready(live.warp(69));
    EXPECT_EQ(scheduler.warps(), 3);
    for (const int expected : {62, 63, 69}) {
        EXPECT_EQ(scheduler.choose(scheduler.ready(0) & all), expected);
        scheduler.set_waiting(live.warp(expected));
    }
    EXPECT_EQ(scheduler.ready(0), 0u);
}

TEST(Memory, IsAQueue) {
    Memory memory({.sixteenths = 16, .near = 20, .far = 100});
    EXPECT_EQ(memory.move(0, 1), 100);
    EXPECT_EQ(memory.move(0, 3), 103) << "after the first one, and each takes a cycle";
    EXPECT_EQ(memory.move(2, 1), 104);
    EXPECT_EQ(memory.move(2, 0), 22) << "L2 does not wait";
    EXPECT_EQ(memory.move(50, 1), 150) << "the queue is empty by then";
    EXPECT_EQ(memory.lines(), 6);
    EXPECT_EQ(memory.busy(), 6);
}

TEST(Memory, HasPartsOfCycles) {
    Memory memory({.sixteenths = 8, .near = 0, .far = 10});
    EXPECT_EQ(memory.move(0, 2), 10);
    EXPECT_EQ(memory.move(0, 2), 11);
    EXPECT_EQ(memory.busy(), 2);
}

TEST(Wheel, TurnsUntilAWarpIsDue) {
    Live live = some_warps(3);
    Wheel wheel;
    for (const auto &[warp, due] : {std::pair{0, 7}, {1, 7}, {2, 3000}}) {
        live.warp(warp).due = due;
        wheel.add(live, warp, 5);
    }
    std::vector<std::pair<std::int64_t, std::int32_t>> found;
    for (std::int64_t now = wheel.next(5); now != never; now = wheel.next(now))
        wheel.turn(live, now, [&](std::int32_t warp) { found.emplace_back(now, warp); });
    EXPECT_EQ(found, (decltype(found){{7, 1}, {7, 0}, {3000, 2}}));
}

TEST(Room, IsBoundedByEach) {
    const SmShape shape{.threads = 100, .registers = 1000, .shared_bytes = 50, .blocks = 3};
    EXPECT_EQ(most_blocks(shape, {.threads = 40, .registers = 1, .shared_bytes = 1}), 2);
    EXPECT_EQ(most_blocks(shape, {.threads = 1, .registers = 900, .shared_bytes = 1}), 1);
    EXPECT_EQ(most_blocks(shape, {.threads = 1, .registers = 1, .shared_bytes = 17}), 2);
    EXPECT_EQ(most_blocks(shape, {.threads = 1, .registers = 1, .shared_bytes = 1}), 3);
    EXPECT_EQ(most_blocks(shape, {.threads = 101, .registers = 1, .shared_bytes = 1}), 0);
}

Kernel kernel(Need need, std::vector<Step> body, std::int64_t turns = 1, std::int64_t blocks = 1) {
    Kernel found;
    found.need = need;
    found.body = std::move(body);
    found.turns = turns;
    found.blocks = blocks;
    return found;
}

std::vector<std::int64_t> at_start(const std::vector<Kernel> &kernels, const std::vector<bool> &qos,
                                   std::size_t sm, std::size_t sms = 4) {
    const qos::Table found = start_blocks({.sms = sms}, kernels, qos);
    std::vector<std::int64_t> of_sm;
    for (std::size_t k = 0; k < kernels.size(); k++)
        of_sm.push_back(found(sm, k));
    return of_sm;
}

using Counts = std::vector<std::int64_t>;

TEST(Placement, GivesEqualThreads) {
    const Kernel large = kernel({.threads = 256}, {{}}), small = kernel({.threads = 128}, {{}});
    EXPECT_EQ(at_start({large, small}, {true, false}, 0), (Counts{4, 8}));
    // 600 are more than a third: 3 * 192 are not.
    const Kernel odd = kernel({.threads = 192}, {{}});
    EXPECT_EQ(at_start({odd, large, small}, {true, true, true}, 0), (Counts{3, 2, 5}));
    // Registers for 3 blocks of the first: the other goes on alone.
    const Kernel wide = kernel({.threads = 128, .registers = 20'000}, {{}});
    EXPECT_EQ(at_start({wide, small}, {true, false}, 0), (Counts{3, 8}));
}

TEST(Placement, PartsTheSmsOfKernelsWithoutGoals) {
    const Kernel one = kernel({.threads = 1024}, {{}});
    EXPECT_EQ(at_start({one, one, one}, {true, false, false}, 1), (Counts{1, 1, 0}));
    EXPECT_EQ(at_start({one, one, one}, {true, false, false}, 2), (Counts{1, 0, 1}));
}

// --- an SM ---

/** Cycles in which thread instructions of a kernel were issued, and how many. */
using Issues = std::vector<std::pair<std::int64_t, std::int64_t>>;

std::vector<Issues> issues(const std::vector<Kernel> &kernels, std::int64_t cycles,
                           int schedulers = 1) {
    GpuShape shape{.sms = 1,
                   .sm = {.schedulers = schedulers},
                   .memory = {.sixteenths = 16, .near = 5, .far = 10}};
    Gpu gpu(shape, kernels, 1, nullptr);
    gpu.allot(start_blocks(shape, kernels, std::vector<bool>(kernels.size(), true)));
    std::vector<Issues> found(kernels.size());
    std::vector<std::int64_t> before(kernels.size());
    while (gpu.now() < cycles) {
        gpu.cycle();
        for (std::size_t k = 0; k < kernels.size(); k++) {
            if (gpu.used(k) > before[k])
                found[k].emplace_back(gpu.now() - 1, gpu.used(k) - before[k]);
            before[k] = gpu.used(k);
        }
        gpu.skip(cycles);
    }
    return found;
}

const Need one_warp{.threads = 32}, two_warps{.threads = 64};

TEST(OneSm, WaitsAndLaunchesAgain) {
    Kernel one = kernel(one_warp, {{.wait = 4}, {.lanes = 7, .wait = 2}}, 2);
    one.gap = 10;
    // The last instruction at 10; the next launch one cycle and the gap later.
    EXPECT_EQ(issues({one}, 26)[0], (Issues{{0, 32}, {4, 7}, {6, 32}, {10, 7}, {21, 32}, {25, 7}}));
}

TEST(OneSm, SharesASchedulerByAge) {
    const Kernel one = kernel(one_warp, {{.lanes = 1, .wait = 3}}, 100);
    const std::vector<Issues> found = issues({one, one}, 8);
    EXPECT_EQ(found[0], (Issues{{0, 1}, {3, 1}, {6, 1}}));
    EXPECT_EQ(found[1], (Issues{{1, 1}, {4, 1}, {7, 1}}));
    const std::vector<Issues> both = issues({one, one}, 4, 2);
    EXPECT_EQ(both[0], both[1]) << "each on a scheduler of its own";
}

TEST(OneSm, WaitsForMemory) {
    const std::vector<Step> body = {{.lines = 2}, {.wait = 1}, {.lines = 1, .far = 0}, {}};
    // Two lines of memory are there at 11; the one of the L2 cache 5 cycles later.
    EXPECT_EQ(issues({kernel(one_warp, body, 9)}, 18)[0],
              (Issues{{0, 32}, {11, 32}, {12, 32}, {17, 32}}));
    const std::vector<Step> posted = {{.lines = 2, .posted = true}, {.wait = 5}};
    EXPECT_EQ(issues({kernel(one_warp, posted, 9)}, 7)[0], (Issues{{0, 32}, {1, 32}, {6, 32}}));
}

TEST(OneSm, WaitsAtBarriersForAllWarps) {
    const std::vector<Step> body = {{.wait = 4, .barrier = true}, {.lanes = 3, .wait = 9}};
    // The second warp comes at 1; both go on at 5, one after the other.
    EXPECT_EQ(issues({kernel(two_warps, body, 9)}, 7)[0],
              (Issues{{0, 32}, {1, 32}, {5, 3}, {6, 3}}));
}

TEST(OneSm, PlacesBlocksAsOthersEnd) {
    GpuShape shape{.sms = 1, .sm = {.schedulers = 1, .blocks = 2}};
    Gpu gpu(shape, {kernel(one_warp, {{.wait = 2}}, 3, 5)}, 1, nullptr);
    gpu.allot(start_blocks(shape, {gpu.kernel(0)}, {true}));
    std::int64_t launched = 0;
    for (int n = 0; n < 100; n++) {
        gpu.cycle();
        EXPECT_LE(gpu.sm(0).blocks(0), 2);
        launched = gpu.grid(0).launches();
    }
    EXPECT_GT(launched, 4);
    EXPECT_GT(gpu.used(0), 32 * 3 * 5 * 4);
}

TEST(OneSm, SavesBlocksThatLeaveAndGoesOnWithThem) {
    GpuShape shape{.sms = 2, .memory = {.sixteenths = 16, .near = 5, .far = 10}};
    Gpu gpu(shape, {kernel({.threads = 32, .registers = 320}, {{.wait = 2}}, 40)}, 1, nullptr);
    qos::Table blocks(2, 1);
    blocks(0, 0) = 1;
    gpu.allot(blocks);
    for (int n = 0; n < 11; n++)
        gpu.cycle();
    EXPECT_EQ(gpu.used(0), 6 * 32);
    gpu.evict(0, 0, 1);
    blocks(0, 0) = 0;
    blocks(1, 0) = 1;
    gpu.allot(blocks);
    EXPECT_EQ(gpu.sm(0).blocks(0), 0);
    // 1280 bytes are ten lines: there at 11 + 9 + 10, and on the other SM 19 cycles later.
    while (gpu.now() < 30)
        gpu.cycle();
    EXPECT_EQ(gpu.sm(1).blocks(0), 0);
    while (gpu.now() < 49)
        gpu.cycle();
    EXPECT_EQ(gpu.sm(1).blocks(0), 1);
    EXPECT_EQ(gpu.used(0), 6 * 32);
    while (gpu.now() < 49 + 2 * 33 + 1)
        gpu.cycle();
    EXPECT_EQ(gpu.used(0), 40 * 32);
    EXPECT_EQ(gpu.sm(1).blocks(0), 0) << "with as many instructions as if it had stayed";
}

TEST(OneSm, PlacesNothingUntilThereIsRoom) {
    GpuShape shape{.sms = 1, .sm = {.blocks = 1}, .memory = {.sixteenths = 16, .far = 10}};
    const Kernel one = kernel({.threads = 32, .registers = 320}, {{.wait = 2}}, 40);
    Gpu gpu(shape, {one, one}, 1, nullptr);
    qos::Table blocks(1, 2);
    blocks(0, 0) = 1;
    gpu.allot(blocks);
    gpu.cycle();
    gpu.evict(0, 0, 1);
    blocks(0, 0) = 0;
    blocks(0, 1) = 1;
    gpu.allot(blocks);
    // Ten lines: saved at 1 + 9 + 10.
    for (; gpu.now() < 20; gpu.cycle())
        EXPECT_EQ(gpu.sm(0).blocks(1), 0);
    gpu.cycle();
    EXPECT_EQ(gpu.sm(0).blocks(1), 1);
    EXPECT_EQ(gpu.sm(0).room().blocks(), 0);
}

// --- decisions ---

Tenant tenant(bool qos, int blocks, int start, int idle = 0) {
    Tenant found;
    found.need = {.threads = 512};
    found.qos = qos;
    found.blocks = blocks;
    found.start = start;
    found.idle = found.idle_all = idle;
    found.has_more = true;
    found.everywhere = 4 * blocks;
    found.goal = 100;
    found.speed = 90;
    return found;
}

Room with_free(int threads) {
    Room found{SmShape{}};
    found.take({.threads = 2048 - threads});
    return found;
}

using Decision = std::optional<Swap>;

TEST(Adjustment, GrowsWhereAKernelIsBehindAndHasNoIdleBlocks) {
    const Decision growth = Swap{.to = 0, .from = 1, .count = 1};
    EXPECT_EQ(adjust({tenant(true, 2, 2), tenant(false, 2, 2)}, with_free(0), {}), growth);
    EXPECT_EQ(adjust({tenant(true, 2, 2, 1), tenant(false, 2, 2)}, with_free(0), {}), growth);
    EXPECT_EQ(adjust({tenant(true, 2, 2, 2), tenant(false, 2, 2)}, with_free(0), {}), Decision());
    EXPECT_EQ(adjust({tenant(true, 2, 2), tenant(false, 2, 2)}, with_free(512), {}),
              (Decision(Swap{.to = 0})))
        << "there is room";
    EXPECT_EQ(adjust({tenant(true, 2, 2), tenant(false, 2, 2)}, with_free(0), {.grows = false}),
              Decision());
    std::vector<Tenant> reached = {tenant(true, 2, 2), tenant(false, 2, 2)};
    reached[0].speed = 100;
    EXPECT_EQ(adjust(reached, with_free(0), {}), Decision());
    std::vector<Tenant> ended = {tenant(true, 2, 2), tenant(false, 2, 2)};
    ended[0].has_more = false;
    EXPECT_EQ(adjust(ended, with_free(0), {}), Decision());
}

TEST(Adjustment, TakesEnoughBlocks) {
    std::vector<Tenant> tenants = {tenant(true, 2, 2), tenant(false, 8, 8)};
    tenants[1].need.threads = 128;
    EXPECT_EQ(adjust(tenants, with_free(0), {}), (Decision(Swap{.to = 0, .from = 1, .count = 4})));
    EXPECT_EQ(adjust(tenants, with_free(200), {}),
              (Decision(Swap{.to = 0, .from = 1, .count = 3})));
    tenants[1].blocks = 3;
    EXPECT_EQ(adjust(tenants, with_free(0), {}), Decision()) << "all of them are not enough";
    tenants[1].blocks = 4;
    EXPECT_EQ(adjust(tenants, with_free(0), {.least = 1}), Decision());
    EXPECT_TRUE(adjust(tenants, with_free(0), {}));
}

TEST(Adjustment, ChoosesTheVictimByTheOrderOfConditions) {
    std::vector<Tenant> tenants = {tenant(true, 1, 1), tenant(true, 1, 1, 2), tenant(false, 1, 1),
                                   tenant(false, 2, 2)};
    EXPECT_EQ(adjust(tenants, with_free(0), {})->from, 3u) << "of those without goals the largest";
    tenants.resize(2);
    EXPECT_EQ(adjust(tenants, with_free(0), {})->from, 1u) << "two idle blocks";
    tenants[1].idle = 1;
    tenants[1].speed = 133; // 3/4 of it are less than 100, the goal
    EXPECT_EQ(adjust(tenants, with_free(0), {}), Decision());
    tenants[1].speed = 134;
    EXPECT_EQ(adjust(tenants, with_free(0), {})->from, 1u);
}

TEST(Adjustment, GivesBack) {
    std::vector<Tenant> tenants = {tenant(true, 3, 2, 2), tenant(false, 1, 2)};
    EXPECT_EQ(adjust(tenants, with_free(0), {}), (Decision(Swap{.to = 1, .from = 0, .count = 1})));
    EXPECT_EQ(adjust(tenants, with_free(0), {.returns = false}), Decision());
    tenants[0].idle_all = 1;
    EXPECT_EQ(adjust(tenants, with_free(0), {.returns = false}), Decision());
    tenants[0].idle_all = 2;
    tenants[1].start = 1;
    EXPECT_EQ(adjust(tenants, with_free(0), {}), Decision()) << "it has what it began with";
    tenants[1].start = 2;
    tenants[0].start = 3;
    EXPECT_EQ(adjust(tenants, with_free(0), {}), Decision());
}

Share share(bool qos, int sms, int speed = 0, int last = 0) {
    return {.qos = qos, .sms = sms, .goal = 100, .speed = speed, .last = last};
}

TEST(Spart, BeginsWithEqualParts) {
    EXPECT_EQ(equal_parts(16, 2), (std::vector<int>{8, 8}));
    EXPECT_EQ(equal_parts(16, 3), (std::vector<int>{6, 5, 5}));
}

TEST(Spart, ClimbsHills) {
    using Found = std::optional<Move>;
    EXPECT_EQ(climb({share(true, 8, 99, 99), share(false, 8)}, 0, 0), (Found(Move{1, 0})));
    EXPECT_EQ(climb({share(true, 15, 99), share(false, 1)}, 0, 0), (Found(Move{1, 0})));
    EXPECT_EQ(climb({share(true, 15, 99), share(false, 1)}, 0, 1), Found());
    EXPECT_EQ(climb({share(true, 8, 110, 115), share(false, 8)}, 0, 0), (Found(Move{0, 1})))
        << "7/8 of 115 are enough";
    EXPECT_EQ(climb({share(true, 8, 110, 114), share(false, 8)}, 0, 0), Found());
    EXPECT_EQ(climb({share(true, 6, 90), share(false, 3), share(false, 5)}, 0, 0),
              (Found(Move{2, 0})))
        << "from the one with most";
    EXPECT_EQ(climb({share(true, 6, 130, 130), share(false, 3), share(false, 5)}, 0, 0),
              (Found(Move{0, 1})))
        << "to the one with fewest";
    EXPECT_EQ(climb({share(true, 8, 99), share(true, 8, 115), share(false, 0)}, 0, 0),
              (Found(Move{1, 0})));
    EXPECT_EQ(climb({share(true, 8, 99), share(true, 8, 114), share(false, 0)}, 0, 0), Found());
}

} // namespace
} // namespace engine
