// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>
#include <fmt/format.h>

#include "check.hpp"
#include "lib/stgm/search.hpp"
#include "perfetto.hpp"

namespace nvstgm {
namespace {

/// The bound of which the largest part was seen: `name`, null if no task has one.
Json nearest(const Json &rows) {
    Json found;
    double most = -1;
    for (const Json &row : rows)
        if (row["ratio"].is_number() && row["ratio"].get<double>() > most) {
            most = row["ratio"].get<double>();
            found = row["name"];
        }
    return found;
}

std::vector<Column> simulate_columns() {
    return {{"name", "task", true}, {"response", "response"}, {"bound", "bound"},
            {"ratio", "ratio"},     {"deadline", "deadline"}, {"misses", "misses"}};
}

Answer<void> write_trace(const Arguments &arguments, const stgm::TaskSet &set,
                         const stgm::Plan &plan, const stgm::Waiting &waiting) {
    stgm::Trace trace;
    stgm::simulate(set, waiting, plan, &trace);
    for (const std::string &sentence : stgm::check_trace(trace, set, waiting))
        return fail("the simulator broke the protocol, which is a fault of nvstgm: " + sentence);
    const std::string path = arguments.text("--output");
    return write_file(path, is_perfetto(path) ? perfetto(set, trace, Source::simulation)
                                              : stgm::to_text(trace, set));
}

Answer<Exit> run_simulate(const Arguments &arguments) {
    const auto set = read_set(arguments.words[0]);
    if (!set)
        return fail(set.error());
    const auto options = analysis_of(arguments, *set);
    if (!options)
        return fail(options.error());
    // It is the protocol that is simulated, whichever the bounds are.
    if (const auto allocated = need_allocation(*set, stgm::Method::stgm); !allocated)
        return fail(arguments.words[0] + ": " + allocated.error());
    stgm::Time longest = 0;
    for (const stgm::Task &task : set->tasks)
        longest = std::max(longest, task.period);
    if (const auto form = knows_form_of_trace(arguments); !form)
        return fail(form.error());
    const auto schedules = number_of(arguments, "--search", 1, 1, 1'000'000'000);
    const auto seed = number_of(arguments, "--seed", 1, 0);
    const auto until = time_of(arguments, "--duration", std::min(stgm::longest_time, 10 * longest),
                               1, set->time_unit);
    for (const auto *const one : {&schedules, &seed, &until})
        if (!*one)
            return fail(one->error());
    warn_of(*options);
    if (!stgm::needs_sms(options->method))
        say(name_of(options->method) +
            ": its bounds are those of another system than the one that is simulated, in "
            "which responses may be longer");
    const stgm::Waiting waiting{options->busy, options->spin_copies && !options->busy};
    const std::vector<stgm::Bound> bounds = stgm::analyse(*set, *options);

    // The schedule that was asked for, then those that are looked for.
    stgm::Choices asked = stgm::synchronous(*set);
    if (const auto typed = arguments.options.find("--offset"); typed != arguments.options.end())
        for (const std::string &one : typed->second) {
            const auto offset = offset_of(one, *set);
            if (!offset)
                return fail(offset.error());
            asked.offset[offset->first] = offset->second;
        }
    constexpr std::size_t most_jobs = 1'000'000, most_searched = 32;
    constexpr stgm::Time most_time = 10 * stgm::longest_time; // in ns of a trace, it fits
    stgm::Time jobs_to_come = 0, end = *until;
    for (const stgm::Task &task : set->tasks) {
        const stgm::Time jobs = *until / task.period + 1;
        jobs_to_come = stgm::add(jobs_to_come, jobs);
        for (const stgm::Time part : stgm::worst_parts(task, set->sms))
            end = stgm::add(end, stgm::multiply(jobs, part));
    }
    if (jobs_to_come > stgm::Time{most_jobs})
        return fail(fmt::format(
            "{} jobs are too many for one schedule; --duration makes it shorter", jobs_to_come));
    if (end > most_time)
        return fail(fmt::format(
            "a schedule may last {} at most, and the jobs of this one may take longer", most_time));
    stgm::Found found =
        *schedules == 1
            ? stgm::Found{.worst = std::vector<stgm::Worst>(set->tasks.size()),
                          .misses = std::vector<std::uint64_t>(set->tasks.size())}
            : stgm::search(*set, {.waiting = waiting,
                                  .schedules = static_cast<std::uint64_t>(*schedules) - 1,
                                  .seed = static_cast<std::uint64_t>(*seed),
                                  .until = std::min(*until, 3 * longest),
                                  .most_jobs = most_searched});
    const stgm::Plan plan = stgm::plan_of(*set, asked, *until, most_jobs);
    const std::vector<stgm::Time> responses = stgm::simulate(*set, waiting, plan);
    for (std::size_t job = 0; job < responses.size(); job++) {
        const std::size_t task = plan.jobs[job].task;
        if (responses[job] > found.worst[task].response)
            found.worst[task] = {responses[job], asked};
        found.misses[task] += responses[job] > set->tasks[task].deadline;
    }
    found.schedules++;
    found.jobs += responses.size();

    Json rows = Json::array();
    std::uint64_t misses = 0;
    std::size_t traced = 0;
    double most = -1;
    for (std::size_t task = 0; task < set->tasks.size(); task++) {
        const stgm::Time response = found.worst[task].response;
        const auto &bound = bounds[task].response;
        const double ratio = bound && *bound && response >= 0
                                 ? static_cast<double>(response * 1000 / *bound) / 1000
                                 : -1;
        rows.push_back({{"name", set->tasks[task].name},
                        {"response", response < 0 ? Json() : Json(response)},
                        {"bound", bound ? Json(*bound) : Json()},
                        {"ratio", ratio < 0 ? Json() : Json(ratio)},
                        {"deadline", set->tasks[task].deadline},
                        {"misses", found.misses[task]}});
        misses += found.misses[task];
        const double pressing =
            static_cast<double>(response) / static_cast<double>(set->tasks[task].deadline);
        if (pressing > most) {
            most = pressing;
            traced = task;
        }
    }
    if (arguments.has("--output")) {
        const bool own = *schedules == 1;
        const stgm::Plan worst = own ? plan
                                     : stgm::plan_of(*set, found.worst[traced].choices,
                                                     std::min(*until, 3 * longest), most_searched);
        if (const auto done = write_trace(arguments, *set, worst, waiting); !done)
            return fail(done.error());
    }
    const Json near = nearest(rows);
    const bool above = std::ranges::any_of(rows, [](const Json &row) {
        return row["bound"].is_number() && row["response"].is_number() &&
               row["response"] > row["bound"];
    });
    std::string text;
    if (arguments.has("--json"))
        text = document("simulate",
                        {{"analysis", name_of(options->method)},
                         {"waiting", waiting.busy ? "busy" : "suspend"},
                         {"copy_wait", options->spin_copies || waiting.busy ? "spin" : "suspend"},
                         {"time_unit", set->time_unit},
                         {"schedules", found.schedules},
                         {"jobs", found.jobs},
                         {"seed", *seed},
                         {"nearest", near},
                         {"tasks", rows}});
    else if (arguments.has("--csv"))
        text = csv(simulate_columns(), rows);
    else
        text = table(simulate_columns(), rows) + "\n" +
               sentence(fmt::format(
                   "{} schedule{}, {} jobs, {} deadlines missed; {} (times in {})", found.schedules,
                   found.schedules == 1 ? "" : "s", found.jobs, misses,
                   near.is_null() ? "no task has a bound"
                                  : (above ? "most above its bound: " : "nearest to its bound: ") +
                                        printable(near.get<std::string>()),
                   unit_of(*set)));
    return write(text).map([&] { return misses ? refused : done; });
}

} // namespace

Command simulate_command() {
    return {
        {"simulate",
         "lets the tasks run by the protocol, and shows the longest responses",
         {"SET"},
         std::vector<Option>{
             {"--search", "so many schedules, all but the first chosen to be bad (default: 1)", "N",
              "-n"},
             {"--seed", "of the choices (default: 1)", "N"},
             {"--offset",
              "of the first schedule: when the task's first job comes (default: 0)",
              "NAME=TIME",
              "",
              {},
              true},
             {"--duration",
              "of the first schedule: releases before this (default: ten of the longest period)",
              "TIME"},
             {"--output", "what happened: text, or FILE.pftrace for ui.perfetto.dev", "FILE",
              "-o"}} +
             analysis_options() + form_options(),
         "In the first schedule every job comes as early as it may and takes its worst case. "
         "The others vary\n"
         "releases, execution times and who comes first. The bounds beside are those of "
         "--analysis.\n"
         "Exit status 0: no deadline was missed, 2: one was.",
         {{"nvstgm simulate robot.json --search 10000",
           "how near do responses come to their bounds?"},
          {"nvstgm simulate robot.json -o robot.pftrace", "the schedule as a picture"}}},
        run_simulate};
}

} // namespace nvstgm
