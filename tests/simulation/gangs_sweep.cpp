// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Runs scenarios of gangs at random (random_gangs.hpp) with windows, with the same goals and no
/// windows, and as they are, without nvqos. Prints the scenarios in which windows do harm:
///
///     make sweep SEEDS="FIRST LAST"      1 to 400 by default
///
/// - The speeds add up to less than 0.97 of those without windows. Where no job has a goal, they may
///   not be less than 0.97 of those without nvqos either.
/// - A job has less than half of its speed without windows.
/// - A share of a gang is reported as kept, though its progress is not that of its part.
///
/// The seeds decide all numbers. Ends with 1 if there is such a scenario, and with 2 for other words.
#include <charconv>
#include <cstdio>
#include <fmt/format.h>
#include <string>
#include <string_view>

#include "lib/simulation/result.hpp"
#include "random_gangs.hpp"

namespace {

using simulation::JobResult;
using simulation::Result;
using simulation::Scenario;

double number(qos::Part part) {
    return static_cast<double>(part) / static_cast<double>(qos::whole);
}

double speed_of(const JobResult &job) {
    return number(job.speed.value_or(0));
}

double sum_of(const Result &result) {
    double sum = 0;
    for (const JobResult &job : result.jobs)
        sum += speed_of(job);
    return sum;
}

/// Returns the speed that a job has with its part of its GPUs, if its turns lose no time.
double speed_of_part(const simulation::Job &job, const JobResult &result) {
    qos::Part alone = 0;
    for (const JobResult::OnGpu &rank : result.gpus)
        alone = std::max(alone, rank.got_alone);
    return std::min(1.0, number(job.goal.part) / std::max(number(alone), 0.01));
}

/// A scenario in its three ways.
struct Ways {
    Scenario scenario;
    Result windows, without, as_it_is;
};

Ways ways_of(std::uint64_t seed) {
    Ways ways{.scenario = test_jobs::random_gangs(seed)};
    ways.windows = simulate(ways.scenario);
    Scenario other = ways.scenario;
    for (simulation::Job &job : other.jobs)
        job.gang = false;
    ways.without = simulate(other);
    other.has_control = false;
    ways.as_it_is = simulate(other);
    return ways;
}

/// Returns a line for a lower sum of speeds, for each job with less than half of its speed, and for
/// each share that nvqos calls kept although the job lacks the progress. Empty: windows do no harm.
std::string findings_of(const Ways &ways) {
    constexpr double enough = 0.97, half = 0.5, of_its_part = 0.7;
    std::string text;
    const double sum = sum_of(ways.windows);
    const bool has_goal = std::ranges::any_of(
        ways.scenario.jobs, [](const auto &job) { return job.goal != qos::Goal(); });
    if (sum < enough * sum_of(ways.without) || (!has_goal && sum < enough * sum_of(ways.as_it_is)))
        text += "  the sum of speeds is less\n";
    for (std::size_t n = 0; n < ways.scenario.jobs.size(); n++) {
        const JobResult &job = ways.windows.jobs[n];
        const double speed = speed_of(job), before = speed_of(ways.without.jobs[n]);
        if (before >= 0.01 && speed < half * before)
            text += fmt::format("  {}: {:.2f} of its speed alone, and {:.2f} without windows: {}\n",
                                job.name, speed, before, job.gang_why);
        const double expected = speed_of_part(ways.scenario.jobs[n], job),
                     a_pass = job.alone_per_s > 0 ? 1 / (number(job.alone_per_s) *
                                                         qos::seconds(ways.scenario.measured()))
                                                  : 1; // it may end just after the run
        if (job.gpus.size() > 1 && ways.scenario.jobs[n].goal.aim == qos::Aim::share &&
            job.kept == true && speed + a_pass < of_its_part * expected)
            text +=
                fmt::format("  {}: its share is kept, and it has {:.2f} of its speed alone, not "
                            "{:.2f}: {}\n",
                            job.name, speed, expected, job.gang_why);
    }
    return text;
}

bool read(std::string_view word, std::uint64_t &seed) {
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), seed);
    return error == std::errc() && end == word.data() + word.size();
}

} // namespace

int main(int count, char **words) {
    std::uint64_t first = 1, last = 400;
    if (count > 3 || (count > 1 && !read(words[1], first)) ||
        (count > 2 && !read(words[2], last)) || first > last) {
        fmt::print(stderr, "usage: gangs_sweep [FIRST [LAST]], two seeds from 0 on\n");
        return 2;
    }
    std::size_t better = 0, worse = 0, found = 0;
    double least = 1;
    for (std::uint64_t seed = first; seed <= last; seed++) {
        const Ways ways = ways_of(seed);
        const double change = sum_of(ways.windows) / sum_of(ways.without);
        better += change > 1.03;
        worse += change < 0.97;
        least = std::min(least, change);
        const std::string findings = findings_of(ways);
        if (findings.empty())
            continue;
        found++;
        fmt::print("seed {}: {:.2f} with windows, {:.2f} without, {:.2f} as it is\n{}", seed,
                   sum_of(ways.windows), sum_of(ways.without), sum_of(ways.as_it_is), findings);
        std::fflush(stdout);
    }
    fmt::print(
        "{} scenarios: {} more than 3 % better by windows, {} more than 3 % worse, the worst "
        "{:.2f}; {} with a finding\n",
        last - first + 1, better, worse, least, found);
    return found > 0;
}
