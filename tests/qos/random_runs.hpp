// SPDX-License-Identifier: MIT OR GPL-2.0
// Runs of the quota machine at random, with fixed seeds, and what was seen in each cycle.
#pragma once

#include "lab/quotas/machine/machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace qos {

/** splitmix64: the same everywhere, and cheap to begin. */
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::int64_t from_to(std::int64_t least, std::int64_t most) {
        return least +
               static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(most - least + 1));
    }
    bool one_of(int many) { return from_to(1, many) == 1; }
    template <typename T>
    T among(std::initializer_list<T> all) {
        return all.begin()[from_to(0, static_cast<std::int64_t>(all.size()) - 1)];
    }

  private:
    std::uint64_t next() {
        std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
        mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
        mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
        return mixed ^ mixed >> 31;
    }

    std::uint64_t state_;
};

struct Issue {
    std::size_t sm, kernel;
    int lanes;
    std::int64_t counter; ///< before it
    bool qos_has_quota;   ///< a resident QoS kernel of the SM does, at that moment
};

struct Cycle {
    std::size_t epoch;
    bool first; ///< of its epoch
    Table start, end, blocks;
    std::vector<Issue> issues;
};

struct Scene {
    Shape shape;
    Scheme scheme = Scheme::naive;
    Readings readings;
    std::int64_t cycles = 0;
    /** Places blocks for the epoch that begins. */
    std::function<void(Table &, std::int64_t cycle)> place = [](Table &, std::int64_t) {};
    /** Offers in a cycle; warp instructions and lanes by SM and kernel, no offer at 0. */
    std::function<std::pair<std::int64_t, int>(std::size_t, std::size_t, std::int64_t)> work;
    std::function<bool(std::size_t, std::size_t, std::int64_t)> leaves = [](auto...) {
        return false;
    };
};

struct Trace {
    Scene scene;
    std::vector<Cycle> cycles;
    std::vector<Epoch> epochs;

    const Shape &shape() const { return scene.shape; }
    std::int64_t wide() const { return std::int64_t{lanes_of_warp} * scene.shape.slots; }
    Integer most() const { return Integer(wide()) * Integer(shape().sms) * Integer(shape().epoch); }
    std::int64_t sum(const Table &table, std::size_t kernel) const {
        std::int64_t all = 0;
        for (std::size_t sm = 0; sm < shape().sms; sm++)
            all += table(sm, kernel);
        return all;
    }
    bool is_serial() const { return scene.readings.check == Check::serial; }
};

inline Trace run(Scene scene) {
    Trace found{.scene = std::move(scene)};
    const Shape &shape = found.scene.shape;
    Machine machine(shape, found.scene.scheme, found.scene.readings);
    Table blocks(shape.sms, shape.kernels.size(), 1);
    for (std::int64_t c = 0; c < found.scene.cycles; c++) {
        const bool first = machine.boundary_is_due();
        if (first) {
            found.scene.place(blocks, c);
            if (auto ended = machine.boundary(blocks))
                found.epochs.push_back(std::move(*ended));
        }
        const auto table = [&](auto value) {
            Table all(shape.sms, shape.kernels.size());
            for (std::size_t sm = 0; sm < shape.sms; sm++)
                for (std::size_t k = 0; k < shape.kernels.size(); k++)
                    all(sm, k) = value(sm, k);
            return all;
        };
        const auto counter = [&](std::size_t sm, std::size_t k) { return machine.counter(sm, k); };
        for (std::size_t sm = 0; sm < shape.sms; sm++)
            for (std::size_t k = 0; k < shape.kernels.size(); k++)
                if (found.scene.leaves(sm, k, c))
                    machine.leave(sm, k);
        Cycle now{.epoch = found.epochs.size(),
                  .first = first,
                  .start = table(counter),
                  .end = {},
                  .blocks = table(
                      [&](std::size_t sm, std::size_t k) { return machine.is_resident(sm, k); }),
                  .issues = {}};
        for (std::size_t sm = 0; sm < shape.sms; sm++) {
            for (std::size_t k = 0; k < shape.kernels.size(); k++) {
                const auto [count, lanes] = found.scene.work(sm, k, c);
                for (std::int64_t n = 0; n < count; n++) {
                    bool qos_has_quota = false;
                    for (std::size_t other = 0; other < shape.kernels.size(); other++)
                        qos_has_quota |= shape.kernels[other].qos && now.blocks(sm, other) &&
                                         (found.is_serial() ? machine.counter(sm, other)
                                                            : now.start(sm, other)) > 0;
                    const std::int64_t before = machine.counter(sm, k);
                    if (machine.offer(sm, k, lanes))
                        now.issues.push_back({sm, k, lanes, before, qos_has_quota});
                }
            }
        }
        machine.end_cycle();
        now.end = table(counter);
        found.cycles.push_back(std::move(now));
    }
    if (auto last = machine.finish())
        found.epochs.push_back(std::move(*last));
    return found;
}

inline Readings some_readings(Random &random) {
    Readings found;
    const auto now = [&] { return random.one_of(4); };
    if (now())
        found.alpha = random.one_of(2);
    if (now())
        found.neg_boundary = random.among({Debt::forgive, Debt::carry});
    if (now())
        found.refill_trigger = random.among({Trigger::own, Trigger::qos});
    if (now())
        found.absent = Absent::counts;
    if (now())
        found.search_op =
            random.among({SearchOperator::min, SearchOperator::mean, SearchOperator::sum});
    if (now())
        found.search_base = SearchBase::goal;
    if (now())
        found.search_alpha = random.among({SearchAlpha::previous, SearchAlpha::none});
    if (now())
        found.hist = random.from_to(1, 3);
    if (now())
        found.check = Check::serial;
    if (now())
        found.elastic_scope = ElasticScope::gpu;
    if (now())
        found.rollover_cap = fraction(random.from_to(0, 5), 2);
    if (now())
        found.rollover_scope = RolloverScope::pool;
    return found;
}

inline Scene some_scene(Random &random) {
    Scene found;
    found.shape = {.sms = static_cast<std::size_t>(random.from_to(1, 3)),
                   .slots = static_cast<int>(random.from_to(1, 4)),
                   .epoch = random.among<std::int64_t>({3, 10, 25})};
    const std::int64_t peak =
        static_cast<std::int64_t>(found.shape.sms) * found.shape.slots * lanes_of_warp;
    for (std::int64_t k = random.from_to(1, 4); k > 0; k--) {
        found.shape.kernels.push_back({.qos = random.one_of(2)});
        if (found.shape.kernels.back().qos)
            found.shape.kernels.back().goal =
                fraction(random.from_to(1, peak * 7), random.from_to(7, 30));
    }
    found.scheme = random.among(
        {Scheme::naive, Scheme::history, Scheme::elastic, Scheme::rollover, Scheme::rollover_time});
    found.readings = some_readings(random);
    found.cycles = found.shape.epoch * random.from_to(1, 6);
    // Of the cycle and not of the order of calls, so that a run can be repeated.
    const auto seed = static_cast<std::uint64_t>(random.from_to(0, 1 << 30));
    found.work = [seed](std::size_t sm, std::size_t k, std::int64_t c) {
        Random one(seed ^ ((sm * 8 + k) * 1000 + static_cast<std::size_t>(c)));
        return std::pair{one.from_to(0, 3),
                         static_cast<int>(one.one_of(2) ? 32 : one.from_to(1, 32))};
    };
    if (random.one_of(2)) {
        found.leaves = [seed](std::size_t sm, std::size_t k, std::int64_t c) {
            return Random(seed ^ ((sm * 8 + k) * 3000 + static_cast<std::size_t>(c))).one_of(50);
        };
        found.place = [seed](Table &blocks, std::int64_t c) {
            Random one(seed ^ static_cast<std::size_t>(c + 77));
            for (std::size_t sm = 0; sm < blocks.sms(); sm++)
                for (std::size_t k = 0; k < blocks.kernels(); k++)
                    blocks(sm, k) = one.from_to(0, 2);
        };
    }
    return found;
}

/** Runs at random, of which @p change may fix some part. */
inline void each_run(
    const std::function<void(const Trace &)> &look,
    const std::function<void(Scene &)> &change = [](Scene &) {}) {
    for (unsigned seed = 0; seed < 300 && !testing::Test::HasFailure(); seed++) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed);
        Scene scene = some_scene(random);
        change(scene);
        look(run(std::move(scene)));
    }
}

inline void each_counter(const Trace &trace,
                         const std::function<void(std::size_t, std::size_t)> &look) {
    for (std::size_t sm = 0; sm < trace.shape().sms; sm++)
        for (std::size_t k = 0; k < trace.shape().kernels.size(); k++)
            look(sm, k);
}

} // namespace qos
