// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file LLM engines for tests.
#pragma once

#include <random>

#include "jobs.hpp"

namespace test_jobs {

/// Returns an engine whose requests are served in steps of load.pause and load.decode.
/// @param gap between requests, in the mean
/// @param variation of that gap
inline simulation::Job engine(const std::string &name, const simulation::EngineLoad &load, Ns gap,
                              qos::Part variation = qos::whole, const qos::Goal &goal = {}) {
    simulation::Job made =
        job(name, {0}, {think(load.pause / qos::us), kernel(load.decode / qos::us)}, goal);
    made.engine = load;
    made.mean_gap = gap;
    made.gap_variation = variation;
    return made;
}

/// Returns an engine whose layers are split among several GPUs from 0 on.
inline simulation::Job on_all_gpus(simulation::Job engine, std::size_t gpus) {
    for (std::size_t gpu = 1; gpu < gpus; gpu++)
        engine.gpus.push_back(gpu);
    engine.of_rank.assign(gpus, 0);
    engine.programs[0].back().kind = Item::Kind::collective;
    return engine;
}

/// Returns what an 8B-like model does: steps of 7.7 ms, 100 tokens in the mean.
inline simulation::EngineLoad load_of_8b() {
    return {.prefill = 40 * qos::ms,
            .decode = 7200 * qos::us,
            .pause = 500 * qos::us,
            .tokens = 100,
            .tokens_variation = qos::whole};
}

/// Returns a training with steps of 94.9 ms, in kernels of 9.29 ms.
inline simulation::Job tuning(const qos::Goal &goal = {}) {
    simulation::Program program{think(2000)};
    program.insert(program.end(), 10, kernel(9290));
    return job("tuning", {0}, program, goal);
}

/// Returns an engine beside one to three other jobs of any sizes.
inline simulation::Scenario random_engine(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto pick = [&](std::initializer_list<Ns> values) {
        return values.begin()[random() % values.size()];
    };
    simulation::EngineLoad load{.prefill = pick({2000, 15'000, 60'000, 300'000}) * qos::us,
                                .prefill_variation = pick({0, qos::whole}),
                                .decode = pick({300, 2000, 4000, 7500, 20'000}) * qos::us,
                                .decode_each = pick({0, 50}) * qos::us,
                                .pause = pick({30, 300, 600, 1500, 4000}) * qos::us,
                                .tokens = pick({1, 10, 60, 300}),
                                .tokens_variation = pick({0, qos::whole}),
                                .batch = static_cast<std::size_t>(pick({1, 4, 64}))};
    // From 5 to 90 % of what the engine does without a batch.
    const Ns busy = load.prefill + load.tokens * (load.decode + load.pause);
    simulation::Scenario made =
        scenario({engine("engine", load, busy * 100 / pick({5, 30, 60, 90}),
                         pick({qos::whole, 4 * qos::whole}), served_first)});
    made.jobs[0].cpu_jitter = pick({2, 10}) * qos::point;
    for (Ns n = pick({1, 1, 2, 3}); n > 0; n--) {
        simulation::Program program{think(pick({10, 500, 5000}))};
        program.insert(program.end(), static_cast<std::size_t>(pick({1, 10, 100})),
                       kernel(pick({100, 1500, 10'000, 50'000}), pick({0, 20})));
        made.jobs.push_back(job("other " + std::to_string(n), {0}, program));
    }
    made.seed = seed;
    made.duration = 43 * qos::second;
    return made;
}

} // namespace test_jobs
