// SPDX-License-Identifier: MIT OR GPL-2.0
// Compares the verdicts of nvqos with the jobs' own progress in runs at random (verdict_runs.hpp):
//
//     verdict_sweep [RUNS [FIRST]]          prints how many verdicts are right; 3,000 runs from 1 on
//     verdict_sweep --list [RUNS [FIRST]]   prints each goal with a wrong or no verdict, too
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "verdict_runs.hpp"

namespace {

using namespace test_jobs;

constexpr std::array<const char *, 3> words = {"kept", "missed", "cannot be seen"};

double percent(qos::Part part) {
    return static_cast<double>(part) / static_cast<double>(qos::point);
}

void print_job(const simulation::Job &job) {
    const simulation::Program &program = job.programs[0];
    if (program.size() == 2)
        std::printf(" %s %lld+%lld us", job.name.c_str(),
                    static_cast<long long>(program[0].time / qos::us),
                    static_cast<long long>(program[1].time / qos::us));
    else
        std::printf(" %s launches of %lld us each %lld us", job.name.c_str(),
                    static_cast<long long>(program[1].time / qos::us),
                    static_cast<long long>(program[1].launch / qos::us));
    if (qos::is_promised(job.goal.aim))
        std::printf(" %s:%.0f%%", job.goal.aim == qos::Aim::speed ? "speed" : "share",
                    percent(job.goal.part));
    else if (job.goal.aim == qos::Aim::latency)
        std::printf(" latency");
    std::printf(";");
}

void print(const simulation::Scenario &scenario, const Judged &one) {
    const qos::Goal &goal = scenario.jobs[one.job].goal;
    std::printf("%s %s: %s, by %+.2f points; made %.1f, alone %.1f; %zu missed, %zu unseen, %zu "
                "short of %zu;",
                scenario.name.c_str(), scenario.jobs[one.job].name.c_str(),
                words[static_cast<std::size_t>(one.said())], percent(one.margin(goal)),
                percent(qos::scaled(one.made, qos::whole, one.length)),
                percent(qos::scaled(one.alone, qos::whole, one.length)), one.missed, one.unseen,
                one.short_seconds, one.epochs);
    for (const simulation::Job &job : scenario.jobs)
        print_job(job);
    std::printf("\n");
}

} // namespace

int main(int argc, char **argv) {
    const bool lists = argc > 1 && std::string_view(argv[1]) == "--list";
    const auto number = [&](int at, unsigned long long usual) {
        return argc > at + lists ? std::strtoull(argv[at + lists], nullptr, 10) : usual;
    };
    const std::uint64_t runs = number(1, 3000), first = number(2, 1);
    // The first index is what nvqos said (Said). The second is the truth: 0 if the goal was kept, 1 if
    // it was kept in the whole run and missed in seconds, and 2 if it was missed.
    std::array<std::array<std::size_t, 3>, 3> table = {};
    std::size_t epochs = 0, unseen = 0, goals = 0, by_time = 0;
    for (std::uint64_t run = first; run < first + runs; run++) {
        const simulation::Scenario scenario = VerdictRun(run).scenario_of_run();
        for (const Judged &one : judge(scenario)) {
            const bool was_kept = one.margin(scenario.jobs[one.job].goal) >= 0;
            table[static_cast<std::size_t>(one.said())][!was_kept                 ? 2
                                                        : one.has_short_seconds() ? 1
                                                                                  : 0]++;
            goals++;
            by_time += one.said() == Said::kept && was_kept &&
                       one.margin_by_progress(scenario.jobs[one.job].goal) < 0;
            epochs += one.epochs;
            unseen += one.unseen;
            if (lists && one.said() != (was_kept ? Said::kept : Said::missed))
                print(scenario, one);
        }
    }
    std::printf(
        "%zu goals in %llu runs; rows: the verdict of nvqos, columns: by the job's own progress\n"
        "%-16s %8s %17s %8s\n",
        goals, static_cast<unsigned long long>(runs), "", "kept", "but for seconds", "missed");
    for (std::size_t said = 0; said < words.size(); said++)
        std::printf("%-16s %8zu %17zu %8zu\n", words[said], table[said][0], table[said][1],
                    table[said][2]);
    std::printf("epochs that cannot be seen: %zu of %zu\n"
                "goals called kept that were kept by time, and missed by progress alone: %zu\n",
                unseen, epochs, by_time);
}
