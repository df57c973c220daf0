// SPDX-License-Identifier: MIT OR GPL-2.0
// What holds for the quota machine under every reading (docs/quotas.md#properties), cycle by cycle,
// over runs at random with fixed seeds.
#include "random_runs.hpp"

#include <algorithm>
#include <functional>

namespace qos {
namespace {

TEST(Properties, P0AnSmIssuesNoMoreThanItsSlots) {
    std::size_t full = 0;
    each_run([&](const Trace &trace) {
        for (const Cycle &cycle : trace.cycles) {
            std::vector<int> issued(trace.shape().sms);
            for (const Issue &issue : cycle.issues)
                issued[issue.sm]++;
            for (const int one : issued) {
                EXPECT_LE(one, trace.shape().slots);
                full += one == trace.shape().slots;
            }
        }
    });
    EXPECT_GT(full, 1000u);
}

TEST(Properties, P1NoKernelIssuesWithoutQuota) {
    each_run([](const Trace &trace) {
        for (const Cycle &cycle : trace.cycles)
            for (const Issue &issue : cycle.issues) {
                EXPECT_GT(trace.is_serial() ? issue.counter : cycle.start(issue.sm, issue.kernel),
                          0);
                EXPECT_GT(cycle.blocks(issue.sm, issue.kernel), 0);
            }
    });
}

TEST(Properties, P2NothingIsLostOrMadeUp) {
    each_run([](const Trace &trace) {
        std::vector<Table> consumed(trace.epochs.size(),
                                    Table(trace.shape().sms, trace.shape().kernels.size()));
        for (const Cycle &cycle : trace.cycles)
            for (const Issue &issue : cycle.issues)
                consumed[cycle.epoch](issue.sm, issue.kernel) += issue.lanes;
        for (std::size_t e = 0; e < trace.epochs.size(); e++) {
            const Epoch &now = trace.epochs[e];
            each_counter(trace, [&](std::size_t sm, std::size_t k) {
                EXPECT_EQ(now.used(sm, k), consumed[e](sm, k));
                EXPECT_EQ(now.counter_start(sm, k) + now.refills(sm, k) * now.quota(sm, k),
                          now.used(sm, k) + now.counter_end(sm, k));
                const std::int64_t before = e ? trace.epochs[e - 1].counter_end(sm, k) : 0;
                const std::int64_t rest = now.counter_start(sm, k) - now.quota(sm, k);
                // Between what was left and nothing: the difference is discarded or forgiven. A
                // pool moves rests.
                if (trace.scene.readings.rollover_scope == RolloverScope::sm) {
                    EXPECT_LE(rest, std::max<std::int64_t>(before, 0));
                    EXPECT_GE(rest, std::min<std::int64_t>(before, 0));
                }
            });
            for (std::size_t k = 0; e && k < trace.shape().kernels.size(); k++) {
                std::int64_t positive = 0, after = 0;
                for (std::size_t sm = 0; sm < trace.shape().sms; sm++) {
                    positive += std::max<std::int64_t>(trace.epochs[e - 1].counter_end(sm, k), 0);
                    after += now.counter_start(sm, k) - now.quota(sm, k);
                }
                EXPECT_LE(after, positive) << "also where rests are pooled";
            }
        }
    });
}

TEST(Properties, P3OverdraftIsBounded) {
    std::int64_t deepest = 0, deepest_serial = 0;
    each_run([&](const Trace &trace) {
        const std::int64_t most = trace.is_serial() ? lanes_of_warp - 1 : trace.wide() - 1;
        for (const Cycle &cycle : trace.cycles)
            each_counter(trace, [&](std::size_t sm, std::size_t k) {
                EXPECT_GE(cycle.end(sm, k), -most);
                (trace.is_serial() ? deepest_serial : deepest) =
                    std::min(trace.is_serial() ? deepest_serial : deepest, cycle.end(sm, k));
            });
        for (const Epoch &epoch : trace.epochs)
            each_counter(trace, [&](std::size_t sm, std::size_t k) {
                EXPECT_LE(epoch.used(sm, k), std::max<std::int64_t>(epoch.counter_start(sm, k), 0) +
                                                 epoch.refills(sm, k) * epoch.quota(sm, k) + most);
            });
    });
    EXPECT_LT(deepest, -64) << "schedulers that see the same counter are among the runs";
    EXPECT_LT(deepest_serial, -25);
}

TEST(Properties, P4SharesAddUpToTheQuota) {
    for (const Rounding round :
         {Rounding::largest, Rounding::floor, Rounding::ceil, Rounding::nearest})
        each_run(
            [&](const Trace &trace) {
                for (const Epoch &epoch : trace.epochs) {
                    for (std::size_t k = 0; k < trace.shape().kernels.size(); k++) {
                        const std::int64_t all = trace.sum(epoch.quota, k);
                        const Integer wanted = std::min(
                            ceil(epoch.alpha[k] * epoch.goal[k] * Integer(trace.shape().epoch)),
                            trace.most());
                        const Integer apart = abs(Integer(Integer(all) - wanted));
                        EXPECT_LE(apart, round == Rounding::largest ? Integer(0)
                                                                    : Integer(trace.shape().sms));
                    }
                }
            },
            [&](Scene &scene) {
                scene.readings.round = round;
                const auto place = scene.place;
                scene.place = [place](Table &blocks, std::int64_t cycle) {
                    place(blocks, cycle);
                    for (std::size_t k = 0; k < blocks.kernels(); k++)
                        blocks(0, k)++;
                };
            });
}

TEST(Properties, P5CountersOfQosKernelsRiseInAnEpochOnlyInElastic) {
    std::size_t risen = 0;
    each_run([&](const Trace &trace) {
        for (const Cycle &cycle : trace.cycles) {
            std::vector<std::vector<std::int64_t>> used(
                trace.shape().sms, std::vector<std::int64_t>(trace.shape().kernels.size()));
            for (const Issue &issue : cycle.issues)
                used[issue.sm][issue.kernel] += issue.lanes;
            each_counter(trace, [&](std::size_t sm, std::size_t k) {
                if (!trace.shape().kernels[k].qos)
                    return;
                const bool rises = cycle.end(sm, k) > cycle.start(sm, k) - used[sm][k];
                EXPECT_TRUE(!rises || trace.scene.scheme == Scheme::elastic);
                risen += rises;
            });
        }
    });
    EXPECT_GT(risen, 100u);
}

TEST(Properties, P6AlphaIsOneExactlyFromTheGoalOn) {
    std::size_t behind = 0, ahead = 0;
    each_run(
        [&](const Trace &trace) {
            for (std::size_t k = 0; k < trace.shape().kernels.size(); k++) {
                const Kernel &kernel = trace.shape().kernels[k];
                Progress past;
                for (const Epoch &epoch : trace.epochs) {
                    EXPECT_GE(epoch.alpha[k], 1);
                    if (kernel.qos && past.cycles && past.instructions &&
                        trace.scene.readings.uses_alpha(trace.scene.scheme)) {
                        const bool reached =
                            fraction(past.instructions, past.cycles) >= kernel.goal;
                        EXPECT_EQ(epoch.alpha[k] == 1, reached);
                        (reached ? ahead : behind)++;
                    } else if (!kernel.qos ||
                               !trace.scene.readings.uses_alpha(trace.scene.scheme)) {
                        EXPECT_EQ(epoch.alpha[k], 1);
                    }
                    past.instructions += trace.sum(epoch.used, k);
                    past.cycles += epoch.length;
                }
            }
        },
        [](Scene &scene) {
            scene.readings.hist.reset();
            scene.place = [](Table &, std::int64_t) {};
        });
    EXPECT_GT(behind, 50u);
    EXPECT_GT(ahead, 50u);
}

TEST(Properties, P7AQosKernelsQuotaIsItsGoalAtLeast) {
    each_run([](const Trace &trace) {
        for (const Epoch &epoch : trace.epochs)
            for (std::size_t k = 0; k < trace.shape().kernels.size(); k++)
                if (trace.shape().kernels[k].qos && trace.sum(epoch.quota, k)) {
                    const Rational goal =
                        trace.shape().kernels[k].goal * Integer(trace.shape().epoch);
                    EXPECT_GE(Rational(trace.sum(epoch.quota, k)),
                              std::min(goal, Rational(trace.most())));
                }
    });
}

TEST(Properties, P8NaiveAndHistoryHoldAQosKernelToItsQuota) {
    std::size_t reached = 0;
    each_run(
        [&](const Trace &trace) {
            for (const Epoch &epoch : trace.epochs)
                for (std::size_t k = 0; k < trace.shape().kernels.size(); k++)
                    if (trace.shape().kernels[k].qos) {
                        const std::int64_t quota = trace.sum(epoch.quota, k),
                                           used = trace.sum(epoch.used, k);
                        EXPECT_LE(used, quota + static_cast<std::int64_t>(trace.shape().sms) *
                                                    (trace.wide() - 1));
                        reached += used >= quota && quota;
                    }
        },
        [](Scene &scene) { scene.scheme = scene.cycles % 2 ? Scheme::naive : Scheme::history; });
    EXPECT_GT(reached, 100u);
}

/** Every kernel offers all that an SM can issue, in each cycle. */
void busy(Scene &scene) {
    const int slots = scene.shape.slots;
    scene.work = [slots](auto...) { return std::pair{std::int64_t{slots}, lanes_of_warp}; };
    scene.place = [](Table &, std::int64_t) {};
    scene.leaves = [](auto...) { return false; };
}

TEST(Properties, P9OneOtherKernelIsNotStarved) {
    std::size_t windows = 0;
    each_run(
        [&](const Trace &trace) {
            std::vector<std::size_t> others;
            for (std::size_t k = 0; k < trace.shape().kernels.size(); k++)
                if (!trace.shape().kernels[k].qos)
                    others.push_back(k);
            if (others.size() != 1)
                return;
            const std::size_t k = others[0];
            for (std::size_t sm = 0; sm < trace.shape().sms; sm++) {
                std::int64_t waits = 0;
                for (const Cycle &cycle : trace.cycles) {
                    const std::int64_t quota = trace.epochs[cycle.epoch].quota(sm, k);
                    bool exhausted = quota > 0;
                    for (std::size_t other = 0; other < trace.shape().kernels.size(); other++)
                        exhausted = exhausted && (other == k || cycle.start(sm, other) <= 0);
                    const bool issues = std::ranges::any_of(cycle.issues, [&](const Issue &one) {
                        return one.sm == sm && one.kernel == k;
                    });
                    waits = cycle.first || !exhausted || issues ? 0 : waits + 1;
                    windows += exhausted;
                    ASSERT_LE(waits, quota ? (trace.wide() + quota - 1) / quota + 1 : 0);
                }
            }
            for (std::size_t e = 1; e < trace.epochs.size(); e++)
                for (std::size_t sm = 0; sm < trace.shape().sms; sm++)
                    ASSERT_TRUE(trace.epochs[e].quota(sm, k) < trace.wide() ||
                                trace.epochs[e].counter_start(sm, k) > 0);
        },
        [](Scene &scene) {
            busy(scene);
            // Also for elastic over the whole GPU, where QoS kernels are never all exhausted at the
            // start of a cycle.
            scene.readings.elastic_scope = ElasticScope::sm;
            scene.readings.absent = Absent::exempt;
        });
    EXPECT_GT(windows, 500u);
}

TEST(Properties, P10AQosKernelAloneReachesWhatItCan) {
    for (const Scheme scheme :
         {Scheme::naive, Scheme::history, Scheme::elastic, Scheme::rollover, Scheme::rollover_time})
        each_run(
            [&](const Trace &trace) {
                const Rational goal = trace.shape().kernels[0].goal;
                std::int64_t instructions = 0, cycles = 0, refused = 0;
                bool wide = true;
                for (const Epoch &epoch : trace.epochs) {
                    instructions += trace.sum(epoch.used, 0);
                    cycles += epoch.length;
                    refused += trace.sum(epoch.refused, 0);
                    for (std::size_t sm = 0; sm < trace.shape().sms; sm++)
                        wide = wide && epoch.quota(sm, 0) >= trace.wide();
                    EXPECT_GE(fraction(instructions, cycles), goal);
                }
                EXPECT_TRUE(trace.scene.scheme != Scheme::elastic || !wide || refused == 0)
                    << "elastic does not throttle what is alone";
            },
            [&](Scene &scene) {
                busy(scene);
                const std::int64_t peak =
                    static_cast<std::int64_t>(scene.shape.sms) * scene.shape.slots * lanes_of_warp;
                // A quota that each SM can use up in an epoch.
                scene.shape.kernels = {
                    {.qos = true, .goal = fraction(peak * (1 + scene.cycles % 3), 4)}};
                scene.scheme = scheme;
                scene.readings = {};
                // Where a debt is forgiven nothing must be owed, and where it is carried it was
                // used before.
            });
}

TEST(Properties, P10RolloverMakesUpForWhatNaiveMisses) {
    // Epochs without and with work, in turn: what could be issued is twice the goal on average.
    const auto rate = [](Scheme scheme, std::optional<bool> alpha) {
        const Trace found =
            run({.shape = {.sms = 1, .slots = 1, .epoch = 64, .kernels = {{true, 8}}},
                 .scheme = scheme,
                 .readings = {.alpha = alpha},
                 .cycles = 64 * 20,
                 .work = [](std::size_t, std::size_t, std::int64_t c) {
                     return std::pair{std::int64_t{c / 64 % 2}, 32};
                 }});
        std::int64_t used = 0;
        for (const Epoch &epoch : found.epochs)
            used += epoch.used(0, 0);
        return fraction(used, found.scene.cycles);
    };
    EXPECT_EQ(rate(Scheme::naive, {}), 4);
    EXPECT_EQ(rate(Scheme::elastic, {}), 16) << "alone it is not throttled";
    EXPECT_EQ(rate(Scheme::rollover, false), 8);
    EXPECT_GT(rate(Scheme::rollover, {}), 8) << "a deficit counts in the counter and in α";
    EXPECT_LT(rate(Scheme::rollover, {}), 16);
    EXPECT_GT(rate(Scheme::history, {}), 4);
    EXPECT_LT(rate(Scheme::history, {}), 8) << "never all of it";
}

TEST(Properties, P11SchemesAgreeUntilSomethingTellsThemApart) {
    std::size_t compared = 0;
    const auto same = [](const Epoch &a, const Epoch &b, const Trace &trace) {
        each_counter(trace, [&](std::size_t sm, std::size_t k) {
            EXPECT_EQ(a.counter_start(sm, k), b.counter_start(sm, k));
            EXPECT_EQ(a.counter_end(sm, k), b.counter_end(sm, k));
            EXPECT_EQ(a.issued(sm, k), b.issued(sm, k));
            EXPECT_EQ(a.refills(sm, k), b.refills(sm, k));
        });
    };
    each_run(
        [&](const Trace &naive) {
            std::int64_t refills = 0;
            for (const Scheme scheme : {Scheme::history, Scheme::rollover, Scheme::elastic}) {
                Scene scene = naive.scene;
                scene.scheme = scheme;
                const Trace other = run(scene);
                for (std::size_t k = 0; k < other.shape().kernels.size(); k++)
                    refills += other.sum(other.epochs[0].refills, k);
                if (scheme == Scheme::elastic && refills)
                    continue;
                same(naive.epochs[0], other.epochs[0], naive);
                compared += scheme == Scheme::elastic;
            }
        },
        [](Scene &scene) {
            scene.scheme = Scheme::naive;
            scene.readings.elastic_scope = ElasticScope::sm;
            scene.cycles = scene.shape.epoch;
        });
    EXPECT_GT(compared, 20u);
}

TEST(Properties, P12AgainIsTheSame) {
    each_run([](const Trace &first) {
        const Trace second = run(first.scene);
        ASSERT_EQ(first.cycles.size(), second.cycles.size());
        for (std::size_t c = 0; c < first.cycles.size(); c++)
            each_counter(first, [&](std::size_t sm, std::size_t k) {
                ASSERT_EQ(first.cycles[c].end(sm, k), second.cycles[c].end(sm, k));
            });
    });
}

TEST(Properties, P13APauseEndsWithTheEpoch) {
    std::size_t paused = 0;
    each_run(
        [&](const Trace &trace) {
            for (std::size_t e = 1; e < trace.epochs.size(); e++)
                each_counter(trace, [&](std::size_t sm, std::size_t k) {
                    if (trace.epochs[e].quota(sm, k) <= trace.wide())
                        return;
                    paused += trace.epochs[e - 1].counter_end(sm, k) <= 0;
                    EXPECT_GT(trace.epochs[e].counter_start(sm, k), 0);
                    // What comes first has its slots.
                    if (k == 0 && trace.shape().kernels[0].qos) {
                        EXPECT_GT(trace.epochs[e].issued(sm, k), 0);
                    }
                });
        },
        busy);
    EXPECT_GT(paused, 100u);
}

TEST(Properties, P14RolloverTimeLetsQosKernelsGoFirst) {
    std::size_t others = 0;
    each_run(
        [&](const Trace &trace) {
            for (const Cycle &cycle : trace.cycles)
                for (const Issue &issue : cycle.issues)
                    if (!trace.shape().kernels[issue.kernel].qos) {
                        EXPECT_FALSE(issue.qos_has_quota);
                        others++;
                    }
        },
        [](Scene &scene) { scene.scheme = Scheme::rollover_time; });
    EXPECT_GT(others, 1000u);
}

} // namespace
} // namespace qos
