// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Jobs for tests, with times that do not vary.
#pragma once

#include "lib/simulation/scenario.hpp"

namespace test_jobs {

using simulation::Item;
using simulation::Ns;

inline Item kernel(Ns us, Ns launch_us = 0) {
    return {.kind = Item::Kind::kernel, .time = us * qos::us, .launch = launch_us * qos::us};
}

inline Item think(Ns us) {
    return {.kind = Item::Kind::think, .time = us * qos::us};
}

inline Item collective(Ns us, std::int64_t rounds, bool overlap = false) {
    return {
        .kind = Item::Kind::collective, .time = us * qos::us, .rounds = rounds, .overlap = overlap};
}

inline qos::Goal share_of(qos::Part percent) {
    return {.aim = qos::Aim::share, .part = percent * qos::point};
}

inline const qos::Goal served_first{.aim = qos::Aim::latency};

inline Item join() {
    return {.kind = Item::Kind::join};
}

inline simulation::Job job(const std::string &name, const std::vector<std::size_t> &gpus,
                           const simulation::Program &program, const qos::Goal &goal = {}) {
    simulation::Job made;
    made.name = name;
    made.gpus = gpus;
    made.programs = {program};
    made.of_rank.assign(gpus.size(), 0);
    made.goal = goal;
    made.cpu_jitter = 0;
    return made;
}

inline simulation::Scenario scenario(const std::vector<simulation::Job> &jobs,
                                     std::size_t gpus = 1) {
    simulation::Scenario made;
    made.gpus.count = gpus;
    made.jobs = jobs;
    return made;
}

} // namespace test_jobs
