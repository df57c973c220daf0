// SPDX-License-Identifier: MIT OR GPL-2.0
// Tenants on the simulated GPU under a governor.
#pragma once

#include "lib/qos/asking.hpp"
#include "lib/qos/governor.hpp"

#include <algorithm>
#include <random>

#include "bursts.hpp"

namespace simulated {

using namespace qos;

/// Tenants under a governor, as a program would run it.
class Governed {
  public:
    Governed(Settings settings, std::vector<Goal> goals)
        : gpu(gpus()), governor_(settings, goals, 0), tenants_(goals.size()) {}

    void add(std::size_t tenant, Bursts bursts) {
        tenants_[tenant].tasks.push_back(gpu.add(std::move(bursts)));
        tenant_of_.push_back(tenant);
        tenants_[tenant].timeslice = 0; // it is asked for again, also for the new task
        count(tenant);
    }
    /// Ends all tasks of a tenant.
    void remove(std::size_t tenant) {
        for (const std::size_t task : tenants_[tenant].tasks)
            gpu.stop(task);
        tenants_[tenant].is_gone = true;
        count(tenant);
    }

    void until(Ns end) {
        while (gpu.now() < end) {
            apply();
            // A look is late by up to 0.2 ms.
            gpu.run_until(std::min(end, std::max(governor_.due(), gpu.now() + 50 * us) +
                                            static_cast<Ns>(random_() % 200) * us));
            looks++;
            for (const simulation::Turn &turn : gpu.take_turns())
                governor_.add({tenant_of_[turn.tsg], turn.tsg, turn.begin, turn.end, turn.ends});
            if (auto record = governor_.step(gpu.now()))
                records.push_back(std::move(*record));
        }
    }

    [[nodiscard]] const Governor &governor() const { return governor_; }

    /// In points of the time from then on.
    [[nodiscard]] double points(std::size_t tenant, Ns from) const {
        const Uses uses = uses_of(tenant);
        return 100.0 * static_cast<double>(uses.before(gpu.now()) - uses.before(from)) /
               static_cast<double>(gpu.now() - from);
    }

    /// The most of any second, in points of it.
    [[nodiscard]] double most_of_a_second(std::size_t tenant) const {
        return 100.0 * static_cast<double>(uses_of(tenant).most_of_a_second()) /
               static_cast<double>(second);
    }

    simulation::SharedGpu gpu;
    std::vector<EpochRecord> records;
    std::size_t looks = 0;

  private:
    struct Tenant {
        std::vector<std::size_t> tasks = {};
        bool is_gone = false, paused = false;
        Ns timeslice = 0; ///< the last one that was asked for
    };

    void count(std::size_t tenant) {
        const Tenant &one = tenants_[tenant];
        governor_.set_tsgs(tenant, one.is_gone ? 0 : static_cast<std::int64_t>(one.tasks.size()));
    }
    Uses uses_of(std::size_t tenant) const {
        std::vector<simulation::SharedGpu::Span> all;
        for (const std::size_t task : tenants_[tenant].tasks)
            all.insert(all.end(), gpu.spans(task).begin(), gpu.spans(task).end());
        return Uses(std::move(all));
    }
    /// Rounds a timeslice as the driver does: to 8 bits, of units of 1.024 us.
    static std::int64_t rounded(Ns timeslice) {
        std::int64_t units = timeslice / 1024, scale = 0;
        for (; units > 255; units /= 2)
            scale++;
        return units << scale;
    }
    void apply() {
        using What = simulation::Request::What;
        for (std::size_t n = 0; n < tenants_.size(); n++) {
            Tenant &tenant = tenants_[n];
            const Lever &lever = governor_.lever(n);
            const Ns timeslice = timeslice_to_ask(lever.timeslice, tenant.timeslice);
            const bool pauses = std::exchange(tenant.paused, lever.paused) != lever.paused,
                       changes = std::exchange(tenant.timeslice, timeslice) != timeslice;
            for (const std::size_t task : tenant.tasks) {
                if (pauses)
                    gpu.ask({task, lever.paused ? What::pause : What::resume});
                if (changes)
                    gpu.change({task, What::timeslice, rounded(timeslice)});
            }
        }
    }

    Governor governor_;
    std::vector<Tenant> tenants_;
    std::vector<std::size_t> tenant_of_; ///< by task
    std::mt19937 random_{7};
};

} // namespace simulated
