// SPDX-License-Identifier: MIT OR GPL-2.0
// Tenants on the simulated GPU under a governor.
#pragma once

#include "lib/qos/asking.hpp"
#include "lib/qos/governor.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "simulated_gpu.hpp"

namespace simulated {

using namespace qos;

/// Tenants under a governor, as a program would run it.
class Governed {
  public:
    Governed(Settings settings, std::vector<Goal> goals)
        : gpu(goals.size()), governor_(settings, goals, 0), tenants_(goals.size()),
          asked_(goals.size()) {}

    void add(std::size_t tenant, std::function<Ns(Ns)> arrives) {
        gpu.tasks.push_back({tenant, std::move(arrives)});
        count();
    }
    void remove(std::size_t tenant) {
        for (simulated::Task &task : gpu.tasks)
            if (task.tenant == tenant)
                task.arrives = nullptr, task.work = 0;
        gone_.insert(gone_.end(), tenant);
        count();
    }

    void until(Ns end) {
        while (gpu.now() < end) {
            apply();
            // A look is late by up to 0.2 ms.
            gpu.run_until(std::min(end, std::max(governor_.due(), gpu.now() + 50 * us) +
                                            static_cast<Ns>(random_() % 200) * us));
            looks++;
            for (const TenantTurn &turn : gpu.turns)
                governor_.add(turn);
            gpu.turns.clear();
            if (auto record = governor_.step(gpu.now()))
                records.push_back(std::move(*record));
        }
    }

    [[nodiscard]] const Governor &governor() const { return governor_; }

    [[nodiscard]] Ns used(std::size_t tenant) const {
        Ns sum = 0;
        for (const simulated::Task &task : gpu.tasks)
            if (task.tenant == tenant)
                sum += task.used;
        return sum;
    }

    /// In points of the time from then on.
    [[nodiscard]] double points(std::size_t tenant, Ns from) const {
        const auto &use = gpu.use_by_ms[tenant];
        const std::size_t first = static_cast<std::size_t>(from / ms);
        const Ns sum = first >= use.size()
                           ? 0
                           : std::accumulate(use.begin() + static_cast<std::ptrdiff_t>(first),
                                             use.end(), Ns{0});
        return 100.0 * static_cast<double>(sum) / static_cast<double>(gpu.now() - from);
    }

    /// The most of any second, in points of it.
    [[nodiscard]] double most_of_a_second(std::size_t tenant) const {
        const auto &use = gpu.use_by_ms[tenant];
        Ns sum = 0, most = 0;
        for (std::size_t n = 0; n < use.size(); n++) {
            sum += use[n] - (n >= 1000 ? use[n - 1000] : 0);
            most = std::max(most, sum);
        }
        return 100.0 * static_cast<double>(most) / static_cast<double>(second);
    }

    simulated::Gpu gpu;
    std::vector<EpochRecord> records;
    std::size_t looks = 0, pauses = 0;
    Ns pause_takes = 700 * us;

  private:
    void count() {
        for (std::size_t n = 0; n < tenants_; n++)
            governor_.set_tsgs(n, std::ranges::count(gone_, n)
                                      ? 0
                                      : std::ranges::count(gpu.tasks, n, &simulated::Task::tenant));
    }
    /// Rounds a timeslice as the driver does: to 8 bits, of units of 1.024 us.
    static Ns rounded(Ns timeslice) {
        Ns units = timeslice / 1024, scale = 0;
        for (; units > 255; units /= 2)
            scale++;
        return (units << scale) * 1024;
    }
    void apply() {
        for (std::size_t n = 0; n < tenants_; n++) {
            const Lever &lever = governor_.lever(n);
            asked_[n] = timeslice_to_ask(lever.timeslice, asked_[n]);
            gpu.set_timeslice(n, rounded(asked_[n]));
            gpu.set_paused(n, lever.paused, pause_takes);
        }
    }

    Governor governor_;
    std::size_t tenants_;
    std::vector<Ns> asked_;
    std::vector<std::size_t> gone_;
    std::mt19937 random_{7};
};

} // namespace simulated
