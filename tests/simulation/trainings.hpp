// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Trainings of several GPUs for tests, and their speeds.
#pragma once

#include <numeric>

#include "jobs.hpp"
#include "lib/simulation/result.hpp"

namespace test_jobs {

using GpuSet = std::vector<std::size_t>;

inline GpuSet first_gpus(std::size_t count) {
    GpuSet gpus(count);
    std::iota(gpus.begin(), gpus.end(), std::size_t{0});
    return gpus;
}

inline std::int64_t ring_of(const GpuSet &gpus) {
    return static_cast<std::int64_t>(2 * (gpus.size() - 1));
}

inline void repeat(simulation::Program &program, int count, const simulation::Program &items) {
    for (int n = 0; n < count; n++)
        program.insert(program.end(), items.begin(), items.end());
}

inline simulation::Job vary(simulation::Job job) {
    job.cpu_jitter = 20 * qos::point;
    return job;
}

/// A training with kernels of a forward pass that take so long. Those of the backward pass take twice
/// as long.
inline simulation::Job training_by(const std::string &name, const GpuSet &gpus,
                                   const qos::Goal &goal, Ns forward_us, Ns update_us) {
    simulation::Program program = {think(3000)};
    repeat(program, 24, {kernel(forward_us, 500)});
    repeat(program, 24, {kernel(2 * forward_us, 1000), collective(150, ring_of(gpus), true)});
    repeat(program, 1, {join(), kernel(update_us)});
    return vary(job(name, gpus, program, goal));
}

/// A training with a batch of 64, which keeps its GPUs busy all the time.
inline simulation::Job training_of(const std::string &name, const GpuSet &gpus,
                                   const qos::Goal &goal = {}) {
    return training_by(name, gpus, goal, 2550, 2000);
}

/// A training with a batch of 16, which launches its kernels just in time.
inline simulation::Job small_training(const std::string &name, const GpuSet &gpus,
                                      const qos::Goal &goal = {}) {
    return training_by(name, gpus, goal, 400, 1000);
}

inline double number(qos::Part part) {
    return static_cast<double>(part) / static_cast<double>(qos::whole);
}

inline double speed_of(const simulation::JobResult &job) {
    return number(job.speed.value_or(0));
}

inline double sum_of(const simulation::Result &result) {
    double sum = 0;
    for (const simulation::JobResult &job : result.jobs)
        sum += speed_of(job);
    return sum;
}

} // namespace test_jobs
