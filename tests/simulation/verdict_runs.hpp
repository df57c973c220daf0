// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Runs at random of two or three jobs on one GPU, each from its number, and whether nvqos'
/// verdicts on their goals are right by the jobs' own progress, in the whole run and in its seconds.
///
/// Jobs are loops with bursts of 0.3 to 120 ms and pauses of 10 us to 100 ms, trainings, graphs of 50
/// ms, trainings whose processor launches small kernels just in time, and pairs of loops. One or two
/// of them have a share, a speed or `latency`.
#pragma once

#include <algorithm>
#include <string>

#include "jobs.hpp"
#include "lib/simulation/governed.hpp"
#include "lib/simulation/machine.hpp"
#include "lib/simulation/random.hpp"

namespace test_jobs {

class VerdictRun {
  public:
    explicit VerdictRun(std::uint64_t number)
        : random_(number, "verdicts at random", simulation::Random::Purpose::start) {
        scenario_ = scenario({some_job("a"), some_job("b")});
        if (below(5) == 0)
            scenario_.jobs.push_back(some_job("c"));
        if (below(5) == 0) // two loops that are the same, as two replicas are
            scenario_.jobs[1].programs = scenario_.jobs[0].programs = {some_loop()};
        scenario_.name = std::to_string(number);
        scenario_.seed = number;
        scenario_.duration = 13 * qos::second;
        scenario_.gpus.kernel_jitter = among({0, 0, 3}) * qos::point;
        set_goals();
    }

    const simulation::Scenario &scenario_of_run() const { return scenario_; }

  private:
    Ns below(Ns end) { return random_.below(end); }
    Ns among(std::initializer_list<Ns> all) {
        return all.begin()[below(static_cast<Ns>(all.size()))];
    }

    simulation::Program some_loop() {
        return {kernel(among({300, 500, 1000, 2000, 3000, 5000, 7200, 9000, 12'000, 20'000, 40'000,
                              70'000, 120'000})),
                think(among({10, 30, 100, 300, 500, 1000, 2000, 4000, 8000, 15'000, 30'000, 60'000,
                             100'000}))};
    }

    /// Returns 19 ms of kernels that are launched just in time.
    simulation::Program some_launches() {
        const Ns time = among({27, 73, 147}), launch = time * among({50, 90, 110, 140}) / 100;
        simulation::Program steps(static_cast<std::size_t>(19'000 / time), kernel(time, launch));
        steps.insert(steps.begin(), think(500));
        return steps;
    }

    simulation::Job some_job(const std::string &name) {
        simulation::Program program;
        switch (below(8)) {
        case 0:
            program = {kernel(92'900), think(2000)};
            break;
        case 1:
            program = {kernel(23'000), think(1000)};
            break;
        case 2:
            program = {kernel(50'000), think(10)};
            break;
        case 3:
            program = some_launches();
            break;
        default:
            program = some_loop();
        }
        simulation::Job made = job(name, {0}, program);
        made.cpu_jitter = among({0, 2, 5, 20}) * qos::point;
        return made;
    }

    bool can_be_kept() const {
        std::vector<qos::Entrant> entrants;
        for (const simulation::Job &one : scenario_.jobs)
            entrants.push_back({one.goal});
        return qos::conflicts(entrants, {}).empty();
    }

    void set_goals() {
        scenario_.jobs[0].goal = promise();
        if (below(2) == 0)
            return;
        scenario_.jobs[1].goal = below(3) == 0 ? served_first : promise();
        while (!can_be_kept())
            for (simulation::Job &one : scenario_.jobs)
                one.goal.part = one.goal.part * 3 / 4 / qos::point * qos::point;
    }

    qos::Goal promise() {
        qos::Goal goal = share_of(5 + 5 * below(18));
        if (below(4) == 0)
            goal.aim = qos::Aim::speed;
        return goal;
    }

    simulation::Random random_;
    simulation::Scenario scenario_;
};

/// The verdict on a goal in a run. nvqos ends with status 4 if the goal was missed, or could not be
/// seen, at the ends of more than 1 % of the epochs.
enum class Said { kept, missed, unseen };

struct Judged {
    std::size_t job;
    /// Progress beside the others and alone, in the measured time. That of a share has what its turns
    /// lost beyond 1.4 points, as a share is time on the GPU beyond that (docs/qos-thinking.md).
    Ns made, alone, length;
    Ns uncounted; ///< such a loss, which is in `made`
    std::size_t epochs = 0, missed = 0, unseen = 0;
    std::size_t short_seconds = 0; ///< epochs in whose last second it made too little progress

    Said said() const {
        if (100 * missed > epochs)
            return Said::missed;
        return 100 * (missed + unseen) > epochs ? Said::unseen : Said::kept;
    }
    /// Returns the part of the time that the goal promises the job, less a point.
    qos::Part least(const qos::Goal &goal) const {
        const qos::Part had_alone = qos::scaled(alone, qos::whole, length);
        return (goal.aim == qos::Aim::speed ? qos::scaled(had_alone, goal.part, qos::whole)
                                            : std::min(goal.part, had_alone * 98 / 100)) -
               qos::point;
    }
    /// Returns by how many millionths of the time the job had more than the goal allows; below 0: it
    /// was missed.
    qos::Part margin(const qos::Goal &goal) const {
        return qos::scaled(made, qos::whole, length) - least(goal);
    }
    /// Returns the same with all that turns lost.
    qos::Part margin_by_progress(const qos::Goal &goal) const {
        return qos::scaled(made - uncounted, qos::whole, length) - least(goal);
    }
    /// Returns whether single seconds missed the goal.
    bool has_short_seconds() const { return 100 * short_seconds > epochs; }
};

/// Keeps the times in which each job made progress.
class Progress : public simulation::Observer {
  public:
    explicit Progress(const simulation::Scenario &scenario) : all_(scenario.jobs.size()) {}
    void progress(const simulation::RankPlace &where, Ns begin, Ns end) override {
        all_[where.job].push_back({begin, end});
    }
    Ns of(std::size_t job, Ns begin, Ns end) const {
        const auto &times = all_[job];
        Ns sum = 0;
        for (auto one = std::ranges::upper_bound(times, begin, {}, &qos::Span::end);
             one != times.end() && one->begin < end; ++one)
            sum += std::min(one->end, end) - std::max(one->begin, begin);
        return sum;
    }

  private:
    std::vector<std::vector<qos::Span>> all_; ///< by job, in the order of time
};

inline Ns progress_alone(const simulation::Scenario &scenario, std::size_t job) {
    simulation::Scenario one = scenario;
    one.jobs = {scenario.jobs[job]};
    Progress progress(one);
    simulation::Machine(one, nullptr, &progress).run();
    return progress.of(0, scenario.warmup, scenario.duration);
}

/// Returns one for each promise.
inline std::vector<Judged> judge(const simulation::Scenario &scenario) {
    Progress progress(scenario);
    simulation::Governed governed(scenario);
    const simulation::Measures measures = simulation::Machine(scenario, &governed, &progress).run();
    std::vector<Judged> all;
    for (std::size_t job = 0; job < scenario.jobs.size(); job++) {
        if (!qos::is_promised(scenario.jobs[job].goal.aim))
            continue;
        const Ns made = progress.of(job, scenario.warmup, scenario.duration),
                 lost = measures.jobs[job].ranks[0].used() - made,
                 counted = scenario.measured() * 14 / 1000;
        const Ns uncounted =
            scenario.jobs[job].goal.aim == qos::Aim::share ? std::max<Ns>(0, lost - counted) : 0;
        Judged one{job, made + uncounted, progress_alone(scenario, job), scenario.measured(),
                   uncounted};
        // A second may have a turn less at its ends (lib/qos/verdict.hpp).
        const qos::Part least = one.least(scenario.jobs[job].goal) - 8 * qos::point / 10;
        for (const simulation::Verdict &verdict : governed.keepers()[0].verdicts(job)) {
            if (verdict.at < scenario.warmup)
                continue;
            one.epochs++;
            one.short_seconds += progress.of(job, verdict.at - qos::second, verdict.at) +
                                     qos::scaled(uncounted, qos::second, one.length) <
                                 qos::scaled(qos::second, least, qos::whole);
            one.missed += !verdict.kept;
            one.unseen += verdict.kept && verdict.why == qos::WhyNot::cannot_be_seen;
        }
        all.push_back(one);
    }
    return all;
}

} // namespace test_jobs
