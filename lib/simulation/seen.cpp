// SPDX-License-Identifier: MIT OR GPL-2.0
#include "seen.hpp"

#include <algorithm>
#include <numeric>

#include "machine.hpp"

namespace simulation {
namespace {

constexpr std::size_t most_bursts = 32; ///< of a program
/// A task that never pauses has one kernel of this length after the other.
constexpr Ns endless = qos::second;
constexpr Ns warmup = 3 * qos::second, least_measured = 7 * qos::second,
             most_measured = 57 * qos::second;
constexpr int most_runs = 12; ///< of a search for pauses
constexpr Part near_enough = 2 * qos::point;

Ns rounded_to_us(Ns time) {
    return std::max(qos::us, (time + qos::us / 2) / qos::us * qos::us);
}

/// A rank of the scenario, with its bursts and its part in the record.
struct SeenRank {
    std::size_t job, rank; ///< of the scenario
    std::vector<Burst> bursts;
    Part seen;
    Ns pause;       ///< the mean that is simulated now
    Ns least, most; ///< a mean in between agrees with the turns

    bool pauses() const { return !bursts.empty(); }
};

/// Returns at most most_bursts of the bursts, evenly chosen, with the means of all.
std::vector<Burst> sample_of(const std::vector<Burst> &bursts) {
    if (bursts.size() <= most_bursts)
        return bursts;
    const auto mean = [](const std::vector<Burst> &of, Ns Burst::*time) {
        return std::accumulate(of.begin(), of.end(), Ns{0},
                               [&](Ns sum, const Burst &one) { return sum + one.*time; }) /
               static_cast<Ns>(of.size());
    };
    std::vector<Burst> chosen;
    for (std::size_t n = 0; n < most_bursts; n++)
        chosen.push_back(bursts[n * bursts.size() / most_bursts]);
    for (const auto time : {&Burst::work, &Burst::pause}) {
        const Ns wanted = mean(bursts, time), has = std::max<Ns>(mean(chosen, time), 1);
        for (Burst &one : chosen)
            one.*time = qos::scaled(one.*time, wanted, has);
    }
    return chosen;
}

/// Returns the mean time of bursts; 0: there are none.
Ns mean_of(const std::vector<Burst> &bursts, Ns Burst::*time) {
    Ns sum = 0;
    for (const Burst &one : bursts)
        sum += one.*time;
    return bursts.empty() ? 0 : sum / static_cast<Ns>(bursts.size());
}

/// Returns the program of a rank whose pauses are SeenRank::pause in the mean.
Program program_of(const SeenRank &rank) {
    if (!rank.pauses())
        return {{.kind = Item::Kind::kernel, .time = endless}};
    const Ns has = std::max<Ns>(mean_of(rank.bursts, &Burst::pause), 1);
    Program program;
    for (const Burst &one : rank.bursts) {
        program.push_back({.kind = Item::Kind::kernel, .time = rounded_to_us(one.work)});
        program.push_back({.kind = Item::Kind::think,
                           .time = rounded_to_us(qos::scaled(one.pause, rank.pause, has))});
    }
    return program;
}

/// Returns the median of a cost over all GPUs; empty: no record shows it.
std::optional<Ns> middle_of(const std::vector<GpuBursts> &gpus, std::optional<Ns> GpuBursts::*of) {
    std::vector<Ns> times;
    for (const GpuBursts &gpu : gpus)
        if (gpu.*of)
            times.push_back(*(gpu.*of));
    std::ranges::sort(times);
    return times.empty() ? std::nullopt : std::optional(times[times.size() / 2]);
}

class Maker {
  public:
    Maker(const Seen &seen, const std::string &name, const Gpus &usual) : seen_(seen) {
        Scenario &scenario = made.scenario;
        scenario.name = name;
        scenario.gpus = usual;
        scenario.has_control = false;
        for (const SeenGpu &gpu : seen.gpus) {
            scenario.gpus.count = std::max(scenario.gpus.count, gpu.index + 1);
            gpus_.push_back(bursts_of(gpu, usual.timeslice_us * usual.timeslice_unit));
        }
        const auto cost = [&](std::optional<Ns> GpuBursts::*of, Ns &to) {
            const auto seen_cost = middle_of(gpus_, of);
            if (seen_cost)
                to = rounded_to_us(*seen_cost);
            return seen_cost.has_value();
        };
        made.has_seen_switching = cost(&GpuBursts::switching, scenario.gpus.switching);
        made.has_seen_late = cost(&GpuBursts::late, scenario.gpus.late);
        for (std::size_t task = 0; task < seen.tasks.size(); task++)
            add_job(task);
        set_length();
        fit();
    }

    Model made;

  private:
    void add_job(std::size_t task) {
        Job job;
        job.name = seen_.tasks[task];
        job.gang = false; // its ranks do not wait for each other, so windows would not help them
        const std::size_t number = made.scenario.jobs.size();
        Ns timeslice = 0;
        for (std::size_t n = 0; n < gpus_.size(); n++) {
            const auto found = gpus_[n].tasks.find(task);
            if (found == gpus_[n].tasks.end())
                continue;
            const TaskBursts &one = found->second;
            const Ns known = std::max<Ns>(seen_.gpus[n].known(), 1);
            const Part part = qos::scaled(one.held, qos::whole, known);
            timeslice = std::max(timeslice, one.timeslice);
            add_rank(number, job.gpus.size(), one, part);
            Estimate estimate{.task = task, .gpu = seen_.gpus[n].index, .seen = part};
            estimate.work = mean_of(one.bursts, &Burst::work);
            estimate.unasked = qos::scaled(one.unasked, qos::whole, known);
            estimate.bursts = one.bursts.size();
            estimate.bounded = static_cast<std::size_t>(std::ranges::count_if(
                one.bursts, [](const Burst &burst) { return burst.bound.has_value(); }));
            estimate.bound = one.bound;
            estimate.timeslice = one.timeslice;
            estimate.is_timeslice_known = one.is_timeslice_known;
            made.estimates.push_back(estimate);
            job.of_rank.push_back(job.gpus.size());
            job.gpus.push_back(seen_.gpus[n].index);
            job.programs.push_back(program_of(ranks_.back()));
        }
        const Ns unit = made.scenario.gpus.timeslice_unit;
        job.timeslice_us = std::max<std::int64_t>(1, (timeslice + unit / 2) / unit);
        made.scenario.jobs.push_back(std::move(job));
    }

    void add_rank(std::size_t job, std::size_t rank, const TaskBursts &seen, Part part) {
        Ns exact = 0, bounded = 0;
        for (const Burst &one : seen.bursts)
            (one.bound ? bounded : exact) += one.pause;
        const auto count = static_cast<Ns>(std::max<std::size_t>(seen.bursts.size(), 1));
        // The record shows exact pauses to about a timeslice. A pause with a bound is between 0 and
        // twice its present length.
        ranks_.push_back({job, rank, sample_of(seen.bursts), part, (exact + bounded) / count,
                          exact * 3 / 4 / count, (exact * 4 / 3 + 2 * bounded) / count});
    }

    /// Sets the duration: the time for each program to run twice, within the limits above.
    void set_length() {
        Ns measured = least_measured;
        for (const SeenRank &rank : ranks_) {
            Ns work = 0;
            for (const Burst &one : rank.bursts)
                work += one.work;
            measured =
                std::max(measured, qos::scaled(2 * work, qos::whole, std::max(rank.seen, 1L)));
        }
        measured = std::min(measured, most_measured);
        made.scenario.warmup = warmup;
        made.scenario.duration = warmup + (measured + qos::ms - 1) / qos::ms * qos::ms;
    }

    std::vector<Part> simulated() const {
        const Measures measures = Machine(made.scenario, nullptr).run();
        std::vector<Part> parts;
        for (const SeenRank &rank : ranks_)
            parts.push_back(qos::scaled(measures.jobs[rank.job].ranks[rank.rank].used(), qos::whole,
                                        measures.length()));
        return parts;
    }

    void set_programs(const std::vector<Ns> &pauses) {
        for (std::size_t n = 0; n < ranks_.size(); n++) {
            SeenRank &rank = ranks_[n];
            rank.pause = pauses[n];
            made.scenario.jobs[rank.job].programs[rank.rank] = program_of(rank);
        }
    }

    /// Returns pauses that bring the parts nearer to the record. From the begin of a burst to the
    /// next one a task takes the work of the burst divided by the task's part. The pause gets 4/5
    /// of the difference between this time in the record and in the simulation.
    /// @param agree whether pauses stay between SeenRank::least and SeenRank::most
    std::vector<Ns> corrected(const std::vector<Part> &parts, bool agree) const {
        constexpr Ns most_at_once = 4; // times
        std::vector<Ns> pauses;
        for (std::size_t n = 0; n < ranks_.size(); n++) {
            const SeenRank &rank = ranks_[n];
            const Ns work = mean_of(rank.bursts, &Burst::work);
            const auto cycle = [&](Part part) {
                return qos::scaled(work, qos::whole, std::max<Part>(part, 1));
            };
            const Ns pause = rank.pause + (cycle(rank.seen) - cycle(parts[n])) * 4 / 5;
            pauses.push_back(agree ? std::clamp(pause, rank.least, rank.most)
                                   : std::clamp(pause, rank.pause / most_at_once,
                                                std::max(rank.pause * most_at_once, qos::us)));
        }
        return pauses;
    }

    Part worst_of(const std::vector<Part> &parts) const {
        Part worst = 0;
        for (std::size_t n = 0; n < ranks_.size(); n++)
            worst = std::max(worst, std::abs(parts[n] - ranks_[n].seen));
        return worst;
    }

    /// Runs the scenario until the parts are near enough. Keeps the best pauses so far.
    void search(bool agree) {
        for (int run = 0; run < most_runs && best_.worst > near_enough; run++) {
            const std::vector<Part> parts = simulated();
            if (const Part worst = worst_of(parts); worst < best_.worst)
                best_ = {worst, parts, pauses_now()};
            set_programs(corrected(parts, agree));
        }
        set_programs(best_.pauses);
    }

    /// Tries pauses that agree with the turns first, and other pauses only if these fail.
    void fit() {
        search(true);
        if (best_.worst > near_enough)
            search(false);
        for (std::size_t n = 0; n < ranks_.size(); n++) {
            made.estimates[n].simulated = best_.parts[n];
            made.estimates[n].pause = ranks_[n].pauses() ? ranks_[n].pause : 0;
        }
    }

    std::vector<Ns> pauses_now() const {
        std::vector<Ns> pauses;
        for (const SeenRank &rank : ranks_)
            pauses.push_back(rank.pause);
        return pauses;
    }

    struct Best {
        Part worst = 2 * qos::whole;
        std::vector<Part> parts; ///< by rank
        std::vector<Ns> pauses;
    };

    Best best_;
    const Seen &seen_;
    std::vector<GpuBursts> gpus_; ///< as Seen::gpus
    std::vector<SeenRank> ranks_; ///< as Model::estimates
};

} // namespace

Part Model::worst() const {
    Part worst = 0;
    for (const Estimate &one : estimates)
        worst = std::max(worst, std::abs(one.seen - one.simulated));
    return worst;
}

Model model_of(const Seen &seen, const std::string &name, const Gpus &usual) {
    return Maker(seen, name, usual).made;
}

} // namespace simulation
