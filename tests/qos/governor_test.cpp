// SPDX-License-Identifier: MIT OR GPL-2.0
// Goals kept on a simulated GPU: shares, caps, what is owed after an outage.
#include "lib/qos/governor.hpp"

#include <gtest/gtest.h>

#include "governed.hpp"
#include "shares.hpp"

namespace {

using namespace qos;
using namespace shares;
using simulated::Governed;

Goal share(Part percent) {
    return {.aim = Aim::share, .part = percent * point};
}
Goal capped(Part percent) {
    return {.cap = percent * point};
}
const Goal rest{};

constexpr Scheme schemes[] = {Scheme::naive, Scheme::history, Scheme::elastic, Scheme::rollover};

class Shares : public testing::TestWithParam<std::tuple<Scheme, int, int>> {};

/// A tenant that always has work beside others that always have: not below its goal, and not above
/// by more than what its turns lose.
TEST_P(Shares, AreKept) {
    const auto [scheme, percent, others] = GetParam();
    Governed run({.scheme = scheme}, {share(percent), rest});
    run.add(0, simulated::always());
    for (int n = 0; n < others; n++)
        run.add(1, simulated::always());
    run.until(10 * second);
    EXPECT_TRUE(is_kept(run.points(0, second), percent, repaid));
}

INSTANTIATE_TEST_SUITE_P(All, Shares,
                         testing::Combine(testing::ValuesIn(schemes),
                                          testing::Values(5, 30, 50, 70, 90),
                                          testing::Values(1, 3, 7)));

TEST(Share, OfTwoTenantsAreKeptTogether) {
    Governed run({}, {share(30), share(60), rest});
    run.add(0, simulated::always());
    run.add(1, simulated::always());
    run.add(2, simulated::always());
    run.until(10 * second);
    EXPECT_TRUE(is_kept(run.points(0, second), 30, repaid));
    EXPECT_TRUE(is_kept(run.points(1, second), 60, repaid));
    EXPECT_GT(run.points(2, second), 4.5);
    for (const EpochRecord &record : run.records)
        for (const Record &tenant : record.tenants)
            EXPECT_TRUE(tenant.kept);
}

/// A second TSG of a tenant does not double its share.
TEST(Share, IsTheTenantsHoweverManyTsgsItHas) {
    Governed run({}, {share(30), rest});
    for (int n = 0; n < 3; n++)
        run.add(0, simulated::always());
    run.add(1, simulated::always());
    run.until(6 * second);
    EXPECT_TRUE(is_kept(run.points(0, second), 30, most_repaid));
}

TEST(Share, GoesToTheOthersWhileItHasNoWork) {
    Governed run({}, {share(50), rest});
    run.add(0, simulated::every(second, 20 * ms));
    run.add(1, simulated::always());
    run.until(5 * second);
    EXPECT_GT(run.points(1, second), 95);
}

// --- pauses for a tenant that thinks ---

/// A tenant that thinks and has had the shortest turns of the others for some epochs.
Account thinking(Ns burst, Ns pause, Ns credit) {
    const Ns time = 8 * Settings().epoch, work = scaled(time, burst, burst + pause);
    return {.credit = credit,
            .burst = burst,
            .pause = pause,
            .recent = work,
            .idle = time - work,
            .epochs = 100,
            .tight = 20};
}

/// Plans epochs for two tenants: the first one has @p account, and the second one always has work.
Plan beside_work(Part goal, const Account &account, const Goal &other, int epochs = 1) {
    const Settings settings;
    const Ns used = account.recent / 8;
    const Observation thinks{.used = used,
                             .backlogged = used,
                             .idle = settings.epoch - used,
                             .burst = account.burst,
                             .pause = account.pause},
        works{.used = settings.epoch - used, .backlogged = settings.epoch};
    Plan plan{.accounts = {account, {}}};
    for (int n = 0; n < epochs; n++)
        plan = next_epoch(std::vector<Entrant>{{share(goal), 1}, {other, 1}}, plan.accounts,
                          std::vector{thinks, works}, settings);
    return plan;
}

/// It was owed time when it had too little. It has all that it uses now.
TEST(PauseOfTheOthers, EndsIfATenantCannotUseMore) {
    const Account owed = thinking(420 * us, 6370 * us, 66 * ms);
    EXPECT_GT(beside_work(38, owed, rest).decisions[1].pause, 0);
    EXPECT_EQ(beside_work(38, owed, rest, 200).decisions[1].pause, 0);
}

TEST(PauseOfTheOthers, LeavesAPromiseItsPart) {
    const Plan plan = beside_work(60, thinking(300 * us, 10 * us, 0), share(30));
    EXPECT_EQ(plan.decisions[0].pause, 0);
    EXPECT_GT(plan.decisions[1].pause, 40 * ms);
    EXPECT_LT(plan.decisions[1].pause, 70 * ms);
    EXPECT_GT(plan.decisions[1].timeslice, 2 * ms) << "its turns are long in the rest of the epoch";
}

/// Returns how long a tenant is counted to have had work or to have waited in an epoch of which it is
/// paused for 60 ms, and works in the rest.
Ns counted_beside_pause(const Goal &goal) {
    Governor governor({}, {share(60), goal}, 0, [](const GpuView &view) {
        return Plan{.accounts = view.accounts,
                    .decisions = {{4 * ms, {}, false}, {4 * ms, {}, false, 60 * ms}}};
    });
    governor.set_tsgs(0, 1);
    governor.set_tsgs(1, 1);
    EXPECT_TRUE(governor.lever(1).paused);
    governor.add({1, 1, 0, 500 * us, true});
    governor.add({0, 0, 600 * us, 61 * ms, true});
    governor.step(60 * ms);
    EXPECT_FALSE(governor.lever(1).paused);
    governor.add({1, 1, 61 * ms, 100 * ms, true});
    const auto record = governor.step(100 * ms);
    return record ? record->tenants[1].seen.backlogged : 0;
}

TEST(PauseOfTheOthers, CountsForAPromiseOnly) {
    EXPECT_EQ(counted_beside_pause(share(30)), 100 * ms);
    EXPECT_LT(counted_beside_pause(rest), 50 * ms);
}

TEST(PauseOfTheOthers, IsLessIfTheyArePromisedMore) {
    const Account account = thinking(300 * us, 10 * us, 0);
    EXPECT_LT(beside_work(60, account, share(38)).decisions[1].pause,
              beside_work(60, account, share(20)).decisions[1].pause);
    EXPECT_GT(beside_work(60, account, rest).decisions[1].pause, 50 * ms);
}

/// What is left is shared by weight.
TEST(BestEffort, GoesByWeight) {
    Goal heavy = rest;
    heavy.weight = 3;
    Governed run({}, {heavy, rest});
    run.add(0, simulated::always());
    run.add(1, simulated::always());
    run.until(5 * second);
    EXPECT_NEAR(run.points(0, second) / run.points(1, second), 3, 0.15);
}

/// Requests beside a task that always has work: the tenant earns nothing while it has none.
TEST(Credit, IsNotEarnedWithoutWork) {
    Governed run({}, {share(50), rest});
    run.add(0, simulated::once(1, 3 * second));
    run.add(1, simulated::always());
    run.until(6 * second);
    for (const EpochRecord &record : run.records) {
        EXPECT_LE(record.tenants[0].account.credit, 0);
        EXPECT_LT(record.tenants[0].seen.backlogged, 5 * ms);
    }
}

/// A tenant with work that could not run for 3 s, as its neighbour could not be stopped, is owed no
/// more than eight epochs of its goal afterwards, and its neighbour has its part again soon.
TEST(Credit, AfterAnOutageIsBounded) {
    const Settings settings;
    Account account;
    for (int n = 0; n < 30; n++)
        account = settled(share(50), account, {0, settings.epoch, 0}, {}, settings);
    EXPECT_EQ(account.credit, 8 * settings.epoch / 2);
    int epochs = 0;
    for (; account.credit > 0 && epochs < 100; epochs++) {
        const Ns used = scaled(settings.epoch, wanted_part(share(50), account, settings), whole);
        account =
            settled(share(50), account, {used, settings.epoch, 9}, {settings.epoch}, settings);
        if (account.credit < ms)
            break;
    }
    EXPECT_LT(epochs, 32);
}

TEST(Credit, OfATenantThatStopsIsDropped) {
    const Settings settings;
    Account account;
    for (int n = 0; n < 5; n++)
        account = settled(share(50), account, {0, settings.epoch, 0}, {}, settings);
    EXPECT_GT(account.credit, 0);
    account = settled(share(50), account, {}, {}, settings);
    EXPECT_EQ(account.credit, 0);
}

/// Turns that give a tenant too much are shortened as far as others waited for the difference.
TEST(Credit, IsADebtIfATenantUsedMoreThanItsQuotaWhileOthersWaited) {
    const Settings settings;
    Account account;
    const auto used_60_ms = [&](int epochs, Ns waited, Ns alone) {
        for (int n = 0; n < epochs; n++)
            account =
                settled(share(50), account, {60 * ms, 100 * ms, 9, 0, alone}, {waited}, settings);
        return account.credit;
    };
    EXPECT_EQ(used_60_ms(10, 40 * ms, 0), -5 * ms)
        << "turns of the first second are not as planned";
    EXPECT_EQ(used_60_ms(3, 0, 0), -5 * ms) << "nobody waited";
    EXPECT_EQ(used_60_ms(3, 40 * ms, 0), -35 * ms);
    EXPECT_LT(wanted_part(share(50), account, settings), 42 * point);
    EXPECT_EQ(used_60_ms(30, 40 * ms, 0), -settings.epoch);
    EXPECT_GE(wanted_part(share(10), account, settings), 2 * point);
    EXPECT_EQ(used_60_ms(1, 40 * ms, 20 * ms), -5 * ms) << "nobody else wanted that time";
    used_60_ms(3, 40 * ms, 0);
    forget_debt(account, settings);
    EXPECT_EQ(account.credit, -5 * ms);
    EXPECT_EQ(used_60_ms(10, 40 * ms, 0), -5 * ms);
}

TEST(Schemes, DifferInWhatIsOwed) {
    const Observation late{10 * ms, 100 * ms, 5};
    for (const Scheme scheme : schemes) {
        const Settings settings{.scheme = scheme};
        const Account account = settled(share(50), {}, late, {}, settings);
        const Part wanted = wanted_part(share(50), account, settings);
        if (scheme == Scheme::history)
            EXPECT_EQ(wanted, whole) << "5 times its goal, at most all";
        else if (scheme == Scheme::rollover)
            EXPECT_EQ(wanted, 60 * point) << "40 ms in 4 epochs";
        else
            EXPECT_EQ(wanted, 50 * point);
    }
    const Settings elastic{.scheme = Scheme::elastic};
    const std::vector<Entrant> two = {{share(50), 1}, {rest, 1}};
    const std::vector<Observation> early = {{49 * ms, 0, 0}, {10 * ms, 0, 0}},
                                   done = {{50 * ms, 0, 0}, {}};
    EXPECT_FALSE(is_over(two, early, elastic));
    EXPECT_TRUE(is_over(two, done, elastic));
    EXPECT_FALSE(is_over(two, done, {}));
}

/// A speed does not count what ends of turns take.
TEST(Speed, IsWithoutWhatTurnsTake) {
    Governed run({}, {{.aim = Aim::speed, .part = 50 * point}, rest});
    run.add(0, simulated::always());
    run.add(1, simulated::always());
    run.until(6 * second);
    const Balance &balance = run.records.back().tenants[0].second;
    EXPECT_NEAR(static_cast<double>(balance.progress) / static_cast<double>(balance.time), 0.5,
                0.01);
    EXPECT_NEAR(run.points(0, second), 51.5, 0.3) << "ten turns in 100 ms, 150 us each";
}

/// Turns of a round of 10 ms, of which the one that goes on when the epoch ends is cut to 0.4 ms by
/// the change of timeslices: what the tenant waits for after it counts.
TEST(Shares, AreKeptWhereAChangeCutsATurn) {
    Governor governor({}, {share(30), rest}, 0);
    governor.set_tsgs(0, 1);
    governor.set_tsgs(1, 1);
    Ns now = 0;
    governor.step(now);
    Ns waited = 0;
    for (int epoch = 0; epoch < 10; epoch++) {
        Ns end = now + 100 * ms;
        for (Ns at = now; at < end; at += 10 * ms) {
            // The others' turn before it was as long as ever.
            const Ns own =
                at == now && epoch > 0 ? 400 * us : governor.lever(0).timeslice + 103 * us;
            governor.add({0, 1, at, at + own, true});
            governor.add({1, 2, at + own + 84 * us, at + 10 * ms - 84 * us, true});
        }
        now = end;
        const auto record = governor.step(now);
        ASSERT_TRUE(record);
        waited = record->tenants[0].seen.backlogged;
    }
    EXPECT_GE(waited, 95 * ms);
    EXPECT_GE(governor.lever(0).timeslice, 2900 * us) << "what a short turn lacks is repaid";
}

/// A loop has bursts of 7.2 ms, and its neighbour a turn of 7.5 ms after each. If the neighbour's
/// timeslice is shorter, the loop was idle meanwhile. If it is not known to be, the loop waited.
TEST(Share, IsNotKeptByPausesThatCannotBeSeen) {
    for (const bool in_effect : {true, false}) {
        Governor governor({}, {share(60), rest}, 0);
        governor.set_in_effect(1, in_effect);
        governor.set_tsgs(0, 1);
        governor.set_tsgs(1, 1);
        std::optional<EpochRecord> last;
        Ns at = 0;
        for (int epoch = 0; epoch < 30; epoch++) {
            for (int turn = 0; turn < 7; turn++, at += 14'868 * us) {
                governor.add({0, 1, at, at + 7200 * us, true});
                governor.add({1, 2, at + 7284 * us, at + 14'784 * us, true});
            }
            last = governor.step(at);
            ASSERT_TRUE(last);
        }
        EXPECT_TRUE(last->tenants[0].kept);
        EXPECT_EQ(last->tenants[0].is_unseen, !in_effect);
        EXPECT_NEAR(static_cast<double>(last->tenants[0].wants.value_or(0)),
                    in_effect ? 0.48e6 : 1e6, 0.02e6);
    }
}

// --- caps ---

struct Load {
    const char *name;
    simulated::Bursts (*make)();
    bool saturates;
};

class Caps : public testing::TestWithParam<std::tuple<int, int, bool, Scheme>> {
  protected:
    static constexpr Load loads[] = {
        {"always", [] { return simulated::always(); }, true},
        {"a graph of 50 ms each 60 ms", [] { return simulated::every(60 * ms, 50 * ms); }, true},
        {"at random, long", [] { return simulated::at_random(3, 900 * ms); }, false},
        {"at random, short", [] { return simulated::at_random(5, 30 * ms); }, false},
        {"2 s, then 2 s", [] { return simulated::every(4 * second, 2 * second, 2 * second); },
         false},
    };
};

/// In no second above the cap by more than a point, alone and beside others.
TEST_P(Caps, AreNeverExceeded) {
    const auto [percent, load, alone, scheme] = GetParam();
    Governed run({.scheme = scheme}, {capped(percent), rest});
    run.add(0, loads[load].make());
    if (!alone)
        run.add(1, simulated::always());
    run.until(12 * second);
    EXPECT_LE(run.most_of_a_second(0), percent + 1) << loads[load].name;
    if (loads[load].saturates && (alone || percent < 50) && percent < 90) {
        EXPECT_GE(run.points(0, 2 * second), percent - 1) << loads[load].name;
    }
    for (const EpochRecord &record : run.records)
        EXPECT_TRUE(record.tenants[0].kept);
}

INSTANTIATE_TEST_SUITE_P(All, Caps,
                         testing::Combine(testing::Values(1, 5, 30, 60, 90), testing::Range(0, 5),
                                          testing::Bool(), testing::Values(Scheme::rollover)));

/// Timeslices alone let the same tasks through.
TEST(Cap, IsExceededWithoutPauses) {
    Governed run({}, {rest, rest});
    run.add(0, simulated::at_random(3, 900 * ms));
    run.add(1, simulated::at_random(4, 900 * ms));
    run.until(12 * second);
    EXPECT_GT(run.most_of_a_second(0), 60);
}

/// Looks and pauses cost time of a processor: ten looks in a second are the ends of epochs.
TEST(Cap, TakesFewLooks) {
    for (const auto &[percent, cycles] : {std::pair{5, 4}, {30, 3}, {60, 2}, {90, 1}}) {
        Governed run({}, {capped(percent), rest});
        run.add(0, simulated::always());
        run.until(2 * second);
        const std::size_t before = run.looks;
        run.until(12 * second);
        EXPECT_LE(run.looks - before, 10U * (10 + 3 * static_cast<std::size_t>(cycles) + 1))
            << percent;
    }
}

/// Where others wait for their parts, pauses are no longer than two epochs.
TEST(Cap, HasLongPausesWhereNoOtherGoalIs) {
    const Settings settings;
    EXPECT_EQ(cycle_of(30 * point, true, settings), 2 * settings.epoch);
    EXPECT_EQ(cycle_of(30 * point, false, settings), second / 3);
    EXPECT_EQ(cycle_of(90 * point, false, settings), second);
    EXPECT_EQ(cycle_of(whole, false, settings), second);
    for (Part part = point; part < whole; part += point)
        EXPECT_LE(scaled(cycle_of(part, false, settings), whole - part, whole),
                  5 * settings.epoch / 2);
}

TEST(Cap, AtAllOfItNeverPauses) {
    Governed run({}, {capped(100), rest});
    run.add(0, simulated::always());
    run.until(3 * second);
    EXPECT_GT(run.points(0, second), 99.9);
}

TEST(Cap, StandsBesideAShare) {
    Goal both = share(20);
    both.cap = 30 * point;
    Governed run({}, {both, rest});
    run.add(0, simulated::always());
    run.add(1, simulated::every(4 * second, 2 * second));
    run.until(12 * second);
    EXPECT_LE(run.most_of_a_second(0), 31);
    EXPECT_GE(run.points(0, second), 19);
}

// --- served first ---

/// A request waits for one short turn of its neighbour.
TEST(Latency, RequestsAreServedFirst) {
    const auto served = [](Goal first) {
        Governed run({}, {first, rest});
        std::vector<Ns> waits;
        run.add(0, simulated::every(20 * ms, 3 * ms));
        run.add(1, simulated::always());
        run.until(4 * second);
        return run.points(0, second);
    };
    EXPECT_NEAR(served({.aim = Aim::latency}), 15, 1.5);
    const Settings settings;
    const std::vector<Entrant> two = {{{.aim = Aim::latency}, 1}, {rest, 1}};
    const std::vector<Account> accounts(2);
    const Plan plan = next_epoch(two, accounts, {}, settings);
    EXPECT_EQ(plan.decisions[0].timeslice, settings.latency_slice);
    EXPECT_EQ(plan.decisions[1].timeslice, settings.shortest);
}

TEST(Latency, OneNeighbourWithAPromiseIsNotCut) {
    const std::vector<Entrant> two = {{{.aim = Aim::latency}, 1}, {share(70), 1}};
    const std::vector<Account> accounts(2);
    const Plan plan = next_epoch(two, accounts, {}, {});
    EXPECT_FALSE(plan.overcommitted);
    EXPECT_EQ(plan.decisions[1].timeslice, Settings().shortest);
}

/// 11.4 % of the time in 17 pauses are 8.6 % for turns, as each pause has two switches.
TEST(Latency, SharesHaveLongerTurnsIfSwitchesTakeItsPauses) {
    const std::vector<Entrant> two = {{{.aim = Aim::latency}, 1}, {share(12), 1}};
    const auto timeslice = [&](Ns burst) {
        const Account serve{.burst = burst, .pause = 500 * us, .busy = 88'600 * us};
        return next_epoch(two, std::vector{serve, Account{}}, {}, {}).decisions[1].timeslice;
    };
    EXPECT_EQ(timeslice(0), Settings().shortest); // one pause
    EXPECT_GT(timeslice(5'400 * us), 90 * us);
}

/// Several neighbours do not spend more than a tenth of the time on switches among themselves.
TEST(Latency, NeighboursHaveTurnsThatAreWorthASwitch) {
    Governed run({}, {{.aim = Aim::latency}, share(30), rest});
    run.add(0, simulated::every(second, ms));
    for (int n = 0; n < 2; n++)
        run.add(1, simulated::always());
    for (int n = 0; n < 2; n++)
        run.add(2, simulated::always());
    run.until(6 * second);
    EXPECT_GT(run.points(1, second) + run.points(2, second), 85);
    EXPECT_TRUE(is_kept(run.points(1, second), 30, most_repaid));
}

/// What is served first is measured after an epoch, so that no other tenant falls behind before.
TEST(Latency, SharesAreKeptBesideIt) {
    Governed run({}, {{.aim = Aim::latency}, share(30), rest});
    run.add(0, simulated::every(20 * ms, 6 * ms));
    run.add(1, simulated::always());
    run.add(2, simulated::always());
    run.until(6 * second);
    EXPECT_TRUE(is_kept(run.points(1, second), 30, most_repaid));
    EXPECT_GT(run.points(2, second), 25);
    for (const EpochRecord &record : run.records)
        EXPECT_TRUE(record.tenants[1].kept) << record.end;
    EXPECT_LT(run.records.back().tenants[1].account.credit, 10 * ms);
}

// --- what cannot be kept ---

// --- turns of a fixed length ---

TEST(Timeslice, IsAsItWasAskedWhateverTheOthersHave) {
    Governed kept({}, {{.aim = Aim::timeslice, .slice = 500 * us}, share(40), {}});
    for (std::size_t n = 0; n < 3; n++)
        kept.add(n, simulated::always());
    kept.until(3 * second);
    EXPECT_EQ(kept.governor().lever(0).timeslice, 500 * us);
    EXPECT_TRUE(is_kept(kept.points(1, second), 40, repaid));
    // A turn in each round of 10 ms, 0.1 ms longer than its timeslice.
    EXPECT_NEAR(kept.points(0, second), 6, 1.5);
}

TEST(Timeslice, TakesItsTurnsFromWhatCanBePromised) {
    const Goal slice{.aim = Aim::timeslice, .slice = 10 * ms};
    const std::vector<Entrant> both = {{share(60)}, {slice}}, little = {{share(50)}, {slice}};
    const auto found = conflicts(both, {});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].why, Conflict::Why::sum);
    // Of 25 ms, 10.103 for its turn and 0.168 for two switches.
    EXPECT_EQ(found[0].possible, scaled(25 * ms - 10'103 * us - 168 * us, whole, 25 * ms));
    EXPECT_EQ(conflicts(little, {}), std::vector<Conflict>{});
}

TEST(Admission, SumsAreRefusedWithTheNumbers) {
    using Why = Conflict::Why;
    const Settings settings;
    const auto of = [&](std::vector<Entrant> entrants) { return conflicts(entrants, settings); };
    EXPECT_TRUE(of({{share(50), 1}, {share(40), 1}, {rest, 1}}).empty());
    const auto all = of({{share(60), 1}, {share(50), 1}});
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].why, Why::sum);
    EXPECT_EQ(all[0].asked, 110 * point);
    // 2 × 84 us of 25 ms are 0.672 %.
    EXPECT_EQ(all[0].possible, whole - 6720);
    // As a sum it fits, with switches it does not.
    EXPECT_EQ(of({{share(50), 1}, {share(50), 1}}).size(), 1U);
    EXPECT_TRUE(of({{share(50), 1}, {share(49), 1}}).empty());
    // 100 tasks that take turns leave less.
    EXPECT_EQ(of({{share(50), 1}, {rest, 100}}).size(), 1U);
    EXPECT_EQ(of({{{.aim = Aim::speed, .part = whole}, 1}, {rest, 1}}).size(), 1U);
    EXPECT_TRUE(of({{share(100), 1}}).empty()) << "alone";
}

TEST(Admission, CapsThatContradict) {
    Goal both = share(30);
    both.cap = 20 * point;
    const Settings settings;
    const std::vector<Entrant> one = {{both, 1}, {rest, 1}};
    const auto found = conflicts(one, settings);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].why, Conflict::Why::below_part);
    const std::vector<Entrant> small = {{{.cap = point / 10}, 1}};
    ASSERT_EQ(conflicts(small, settings).size(), 1U);
    EXPECT_EQ(conflicts(small, settings)[0].why, Conflict::Why::too_small);
    const std::vector<Entrant> any = {{rest, 1}};
    ASSERT_EQ(conflicts(any, {.epoch = 10 * ms}).size(), 1U);
    EXPECT_EQ(conflicts(any, {.epoch = 10 * ms})[0].possible, 30 * ms);
}

/// What is admitted is kept: at the limit that a refusal names.
TEST(Admission, NamesALimitThatHolds) {
    const Settings settings;
    const std::vector<Entrant> too_much = {{share(99), 1}, {rest, 1}};
    const auto found = conflicts(too_much, settings);
    ASSERT_EQ(found.size(), 1U);
    Governed run(settings, {{.aim = Aim::share, .part = found[0].possible - 1}, rest});
    run.add(0, simulated::always());
    run.add(1, simulated::always());
    run.until(6 * second);
    EXPECT_GE(run.points(0, second),
              static_cast<double>(found[0].possible) / static_cast<double>(point) - 1);
}

/// Newcomers and those that go: the share holds.
TEST(Share, HoldsWhileOthersComeAndGo) {
    Governed run({}, {share(40), rest});
    run.add(0, simulated::always());
    run.add(1, simulated::always());
    run.until(2 * second);
    run.add(1, simulated::always());
    run.add(1, simulated::always());
    run.until(4 * second);
    EXPECT_TRUE(is_kept(run.points(0, 2 * second), 40, repaid));
    run.remove(1);
    run.until(5 * second);
    EXPECT_GT(run.points(0, 4 * second), 98);
}

/// Too many come for what was admitted: it is reported.
TEST(Share, ThatFitsNoMoreIsReported) {
    Governed run({}, {share(90), rest});
    run.add(0, simulated::always());
    run.add(1, simulated::always());
    run.until(second);
    EXPECT_FALSE(run.records.back().overcommitted);
    for (int n = 0; n < 20; n++)
        run.add(1, simulated::always());
    run.until(4 * second);
    EXPECT_TRUE(run.records.back().overcommitted);
    EXPECT_FALSE(run.records.back().tenants[0].kept);
}

/// A neighbour that its timeslice does not stop is paused.
TEST(Share, IsKeptByPausesWhereTimeslicesDoNotHelp) {
    const Settings settings;
    std::vector<Entrant> two = {{share(50), 1}, {rest, 1}};
    std::vector<Account> accounts(2);
    const std::vector<Observation> seen = {{10 * ms, 100 * ms, 1}, {90 * ms, 100 * ms, 1}};
    int paused = 0;
    for (int n = 0; n < 30; n++) {
        const Plan plan = next_epoch(two, accounts, seen, settings);
        EXPECT_FALSE(plan.decisions[0].paused);
        paused += plan.decisions[1].paused;
        accounts = plan.accounts;
    }
    EXPECT_GE(paused, 2);
    EXPECT_LE(paused, 4) << "where it does not help, it is not paused for ever";
}

} // namespace
