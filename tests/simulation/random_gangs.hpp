// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Scenarios of gangs at random, each from its seed: one to three gangs of two to eight GPUs,
/// whose sets may overlap, and jobs of one GPU beside them. Gangs are trainings that are bound by
/// their GPUs or by their processors, decode loops that think, trainings with a rank that idles,
/// and services. In every second scenario some jobs have shares, which can be kept together.
#pragma once

#include <algorithm>

#include "jobs.hpp"
#include "lib/simulation/random.hpp"

namespace test_jobs {

class RandomGangs {
  public:
    explicit RandomGangs(std::uint64_t seed)
        : random_(seed, "gangs at random", simulation::Random::Purpose::start), seed_(seed) {}

    simulation::Scenario make() {
        const auto gpus = static_cast<std::size_t>(between(2, 8));
        has_shares_ = seed_ % 2 == 1;
        std::vector<simulation::Job> jobs;
        for (Ns left = between(1, 3); left > 0; left--)
            jobs.push_back(gang("gang" + std::to_string(left), gpus));
        for (Ns left = between(jobs.size() == 1 ? 1 : 0, 3); left > 0; left--)
            jobs.push_back(single("single" + std::to_string(left), gpus));
        simulation::Scenario made = scenario(jobs, gpus);
        made.gpus.kernel_jitter = 3 * qos::point;
        made.seed = seed_;
        // Windows are tried until 3 s or so.
        made.warmup = 4 * qos::second;
        made.duration = 10 * qos::second;
        return made;
    }

  private:
    Ns between(Ns least, Ns most) { return least + random_.below(most - least + 1); }

    /// Takes a GPU-bound step apart: forward kernels, and backward ones with collectives.
    simulation::Program training(std::size_t ranks, bool is_bound_by_gpu) {
        const Ns layers = between(6, 24), launch = between(300, 900),
                 length = is_bound_by_gpu ? launch * between(2, 6) : launch * between(5, 9) / 10;
        simulation::Program program = {think(between(500, 4000))};
        for (Ns n = 0; n < layers; n++)
            program.push_back(kernel(length, launch));
        for (Ns n = 0; n < layers; n++) {
            program.push_back(kernel(2 * length, 2 * launch));
            program.push_back(collective(between(50, 300), ring_of(ranks), true));
        }
        program.push_back(join());
        program.push_back(kernel(between(500, 2000)));
        return program;
    }

    simulation::Program decode(std::size_t ranks) {
        const Ns layers = between(8, 32), length = between(20, 200), meet = between(10, 40);
        simulation::Program program;
        for (Ns n = 0; n < layers; n++) {
            program.push_back(kernel(length));
            program.push_back(collective(meet, ring_of(ranks)));
        }
        program.push_back(think(between(50, 1500)));
        return program;
    }

    static std::int64_t ring_of(std::size_t ranks) {
        return static_cast<std::int64_t>(2 * (ranks - 1));
    }

    simulation::Job gang(const std::string &name, std::size_t gpus) {
        const auto size = static_cast<std::size_t>(between(2, static_cast<Ns>(gpus)));
        auto first = static_cast<std::size_t>(between(0, static_cast<Ns>(gpus - size)));
        if (!taken_.empty() && between(0, 3) > 0) { // it shares a GPU
            const std::size_t shared = taken_gpu();
            first = std::min(shared, gpus - size) - (shared < gpus - size && size > 1 && shared > 0
                                                         ? static_cast<std::size_t>(between(0, 1))
                                                         : 0);
        }
        std::vector<std::size_t> those;
        for (std::size_t n = 0; n < size; n++)
            those.push_back(first + n);
        taken_.insert(taken_.end(), those.begin(), those.end());
        const Ns kind = between(0, 9);
        simulation::Job made;
        if (kind < 3) {
            made = job(name, those, training(size, true));
        } else if (kind < 5) {
            made = job(name, those, training(size, false));
        } else if (kind < 8) {
            made = job(name, those, decode(size));
        } else if (kind == 8) { // a rank that idles
            const Ns length = between(5'000, 40'000), meet = between(100, 1000);
            made = job(name, those, {kernel(length), collective(meet, ring_of(size))});
            made.programs.push_back({think(length), collective(meet, ring_of(size))});
            made.of_rank.back() = 1;
        } else {
            made = job(name, those, decode(size), served_first);
            made.mean_gap = between(30, 100) * qos::ms;
        }
        made.cpu_jitter = between(2, 20) * qos::point;
        return with_share(std::move(made));
    }

    simulation::Job single(const std::string &name, std::size_t gpus) {
        const std::vector<std::size_t> gpu = {
            between(0, 3) > 0 ? taken_gpu()
                              : static_cast<std::size_t>(between(0, static_cast<Ns>(gpus) - 1))};
        const Ns kind = between(0, 5);
        if (kind < 2)
            return with_share(
                job(name, gpu, {kernel(between(5'000, 50'000)), think(between(0, 5'000))}));
        if (kind < 4)
            return with_share(
                job(name, gpu, {kernel(between(1'000, 9'000)), think(between(300, 2'000))}));
        if (kind == 4)
            return with_share(
                job(name, gpu, {kernel(between(300, 2'000)), think(between(2'000, 8'000))}));
        simulation::Job made = job(name, gpu, {kernel(between(500, 6'000))}, served_first);
        made.mean_gap = between(20, 100) * qos::ms;
        return made;
    }

    /// Returns a GPU of a gang.
    std::size_t taken_gpu() {
        return taken_[static_cast<std::size_t>(between(0, static_cast<Ns>(taken_.size()) - 1))];
    }

    simulation::Job with_share(simulation::Job made) {
        const qos::Part percent = between(10, 50);
        if (!has_shares_ || made.goal.aim != qos::Aim::best_effort || percent > unpromised_ ||
            between(0, 1) == 0)
            return made;
        unpromised_ -= percent;
        made.goal = share_of(percent);
        made.goal_text = "share";
        return made;
    }

    simulation::Random random_;
    std::uint64_t seed_;
    bool has_shares_ = false;
    std::vector<std::size_t> taken_; ///< GPUs of the gangs so far
    qos::Part unpromised_ = 80;      ///< percent, of all jobs together
};

inline simulation::Scenario random_gangs(std::uint64_t seed) {
    return RandomGangs(seed).make();
}

} // namespace test_jobs
