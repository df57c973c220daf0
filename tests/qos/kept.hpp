// SPDX-License-Identifier: MIT OR GPL-2.0
// A GpuGoals that keeps goals on the simulated GPU.
#pragma once

#include "served.hpp"
#include "shares.hpp"

#include "tools/nvqos/keep/gpu_goals.hpp"

namespace served {

class Kept : public Served {
  protected:
    /// Starts to keep the goals. Searches are made in this thread, since the simulation has one,
    /// unless
    /// @p searches is another policy.
    void start(const std::vector<std::string> &words, nvqos::GpuGoals::Options options = {},
               std::launch searches = std::launch::deferred) {
        for (const std::string &word : words) {
            const auto added = nvqos::add_word(word, asked);
            ASSERT_TRUE(added) << added.error().sentence;
        }
        if (!options.clock)
            options.clock = [this] { return sim.now(); };
        options.searches = searches;
        // Levers repeat requests in virtual time. Keepers wait by the machine's clock, and this
        // process may be kept from running, so their patience is long.
        options.beat = options.patience / 4;
        options.patience = driver_test::plenty;
        auto made = nvqos::GpuGoals::start(
            gpu, asked, options, [this](const std::string &text) { said.push_back(text); });
        if (made)
            gpu_goals = std::move(*made);
        else
            refused = made.error();
    }

    /// Makes all steps until @p end.
    /// @param late each step comes so much later than it is due
    void keep_until(Ns end, Ns late = 0) {
        while (sim.now() < end) {
            const Ns wait = std::max<Ns>(gpu_goals->wait(), 100 * qos::us) + late;
            run_until(std::min(end, sim.now() + wait));
            auto report = gpu_goals->step();
            steps++;
            ASSERT_TRUE(report) << report.error().sentence;
            if (*report)
                reports.push_back(std::move(**report));
        }
    }

    /// Returns the most that the first task had of any second, without the time before @p since.
    Ns most_of_a_second(Ns since) const {
        return simulated::Uses(sim.spans(0)).most_of_a_second(since);
    }

    double points(std::size_t task, Ns since, Ns used_before) const {
        return 100.0 * static_cast<double>(sim.used(task) - used_before) /
               static_cast<double>(sim.now() - since);
    }

    nvqos::Goals asked;
    std::vector<std::string> said;
    std::unique_ptr<nvqos::GpuGoals> gpu_goals;
    std::optional<nvqos::Failure> refused;
    std::vector<nvqos::Report> reports;
    std::uint64_t steps = 0;
};

} // namespace served
