// SPDX-License-Identifier: MIT OR GPL-2.0
#include "proposals.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <optional>

#include "tools/nvqos/goals.hpp"
#include "tools/nvqos/simulate.hpp"

namespace nvqos {
namespace {

using simulation::Scenario;

/// Goals are proposed in steps of 5 %, and below 10 % in steps of 1 %.
constexpr int step_percent = 5, least_in_steps = 10;
constexpr int most_for_one = 80; ///< a fifth of the GPU is left for the other tasks
constexpr int most_for_a_service = 60;
constexpr std::size_t most_favoured = 4;

/// Rounds a percentage down to a step of proposals, but not below 1.
int in_steps(int percent) {
    return percent < least_in_steps ? std::max(percent, 1) : percent / step_percent * step_percent;
}

int percent_in(qos::Part part) {
    return static_cast<int>(part / qos::point);
}

/// Collects how long each job waits for its turns, after the warm-up.
class WaitCounter : public simulation::Observer {
  public:
    explicit WaitCounter(const Scenario &scenario)
        : waits(scenario.jobs.size()), since_(scenario.warmup) {}
    void wait(const simulation::RankPlace &where, qos::Ns begin, qos::Ns end, bool) override {
        if (end >= since_)
            waits[where.job].add(end - begin);
    }
    std::vector<qos::Waits> waits;

  private:
    const qos::Ns since_;
};

Proposal run_of(std::string name, Scenario scenario) {
    WaitCounter counter(scenario);
    simulation::Result result = simulation::simulate(scenario, &counter);
    return {std::move(name), std::move(scenario), std::move(result), std::move(counter.waits)};
}

class Proposals {
  public:
    explicit Proposals(const simulation::Model &model) : base_(model.scenario) {
        all.push_back(run_of("as it is", base_));
        for (const simulation::JobResult &job : all.front().result.jobs) {
            qos::Part alone = 0;
            for (const auto &gpu : job.gpus)
                alone = std::max(alone, gpu.got_alone);
            alone_.push_back(percent_in(alone));
        }
        share_equally();
        share_by_demand();
        favour();
    }

    std::vector<Proposal> all;

  private:
    /// Returns the scenario with a goal for each job; empty: nvqos would refuse the goals.
    std::optional<Scenario> with(const std::vector<std::string> &goals) const {
        Scenario scenario = base_;
        scenario.has_control = true;
        for (std::size_t n = 0; n < goals.size(); n++) {
            scenario.jobs[n].goal_text = goals[n];
            scenario.jobs[n].goal = *parse_goal(goals[n]);
        }
        return refusal_of(scenario) ? std::nullopt : std::optional(scenario);
    }

    std::vector<std::string> nobody() const {
        return std::vector<std::string>(base_.jobs.size(), "best-effort");
    }

    /// Adds a proposal, unless an earlier proposal has the same goals.
    void add(std::string name, Scenario scenario) {
        const auto has_the_same = [&](const Proposal &one) {
            return one.scenario.has_control &&
                   std::ranges::equal(one.scenario.jobs, scenario.jobs, {},
                                      &simulation::Job::goal_text, &simulation::Job::goal_text);
        };
        if (std::ranges::none_of(all, has_the_same))
            all.push_back(run_of(std::move(name), std::move(scenario)));
    }

    /// Adds the proposal with the largest percentage, @p most or less, that nvqos would accept.
    /// @param goals_of returns the goals of all jobs for a percentage
    template <typename GoalsOf>
    void add_largest(const std::string &name, int most, const GoalsOf &goals_of) {
        for (int percent = in_steps(most); percent > 0; percent = in_steps(percent - 1)) {
            if (auto scenario = with(goals_of(percent)))
                return add(name, std::move(*scenario));
            if (percent == 1)
                return;
        }
    }

    /// Returns the number of jobs on the GPU that has the most jobs.
    int most_on_a_gpu() const {
        std::vector<int> jobs(base_.gpus.count);
        for (const simulation::Job &job : base_.jobs)
            for (const std::size_t gpu : job.gpus)
                jobs[gpu]++;
        return std::ranges::max(jobs);
    }

    void share_equally() {
        add_largest("an equal share for each", 100 / most_on_a_gpu(), [&](int percent) {
            return std::vector<std::string>(base_.jobs.size(), fmt::format("share:{}%", percent));
        });
    }

    /// Gives each task a share of the part that it would use alone. If these shares do not fit
    /// together, the larger ones are cut to one limit.
    void share_by_demand() {
        constexpr int whole_percent = 100;
        add_largest("a share for each by what it would use alone", whole_percent, [&](int most) {
            std::vector<std::string> goals;
            for (const int alone : alone_)
                goals.push_back(fmt::format("share:{}%", in_steps(std::min(alone, most))));
            return goals;
        });
    }

    /// Proposes each of the tasks with the least demand as a service that is served first, and the
    /// largest possible share for each of the tasks with the greatest demand.
    void favour() {
        std::vector<std::size_t> order(base_.jobs.size());
        std::iota(order.begin(), order.end(), 0);
        std::ranges::stable_sort(order, {}, [&](std::size_t job) { return alone_[job]; });
        const std::size_t count = std::min(order.size(), most_favoured);
        for (std::size_t n = 0; n < count; n++) {
            const std::size_t job = order[n];
            if (!pauses(base_.jobs[job]))
                continue; // a task that never pauses would wait at its cap most of the time
            // A cap holds in each second, and in some seconds a task wants more than its mean.
            const int cap =
                std::min(alone_[job] + alone_[job] / 4 + step_percent, most_for_a_service);
            add_largest(base_.jobs[job].name + " is served first, up to a cap", cap,
                        [&](int percent) {
                            auto goals = nobody();
                            goals[job] = fmt::format("latency,cap:{}%", percent);
                            return goals;
                        });
        }
        std::ranges::sort(order);
        std::ranges::stable_sort(order, std::greater(),
                                 [&](std::size_t job) { return alone_[job]; });
        for (std::size_t n = 0; n < count; n++) {
            const std::size_t job = order[n];
            add_largest("the most for " + base_.jobs[job].name, std::min(alone_[job], most_for_one),
                        [&](int percent) {
                            auto goals = nobody();
                            goals[job] = fmt::format("share:{}%", percent);
                            return goals;
                        });
        }
    }

    static bool pauses(const simulation::Job &job) {
        return std::ranges::any_of(job.programs, [](const simulation::Program &program) {
            return std::ranges::any_of(program, [](const simulation::Item &item) {
                return item.kind == simulation::Item::Kind::think;
            });
        });
    }

    const Scenario &base_;
    std::vector<int> alone_; ///< by job, in percent of a GPU
};

} // namespace

std::vector<Proposal> proposals_for(const simulation::Model &model) {
    return std::move(Proposals(model).all);
}

} // namespace nvqos
