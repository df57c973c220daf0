// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>
#include <fmt/format.h>
#include <numeric>

#include "check.hpp"
#include "lib/stgm/search.hpp"
#include "perfetto.hpp"

namespace nvstgm {
namespace {

/// Returns the name of the task with the largest ratio of response and bound, or null if there is
/// none.
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
    return {{"name", "task", true},       {"response", "response"},           {"bound", "bound"},
            {"ratio", "ratio", false, 1}, {"deadline", "deadline", false, 2}, {"misses", "misses"}};
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

constexpr std::size_t most_jobs = 1'000'000, most_searched = 32;

/// The command line of `simulate`, with the set that it names.
struct SimulateRequest {
    stgm::TaskSet set;
    stgm::Options analysis;
    stgm::Waiting waiting;
    std::int64_t schedules, seed;
    stgm::Time until;        ///< no job of the first schedule is released from then on
    stgm::Time until_others; ///< the same for the schedules that are searched
    stgm::Choices first;     ///< the choices of the first schedule
};

/// Fails if the first schedule would have too many jobs, or last too long for a trace.
Outcome<void> can_simulate(const stgm::TaskSet &set, stgm::Time until) {
    constexpr stgm::Time most_time = 10 * stgm::longest_time; // fits into ns of a trace
    stgm::Time jobs_to_come = 0, end = until;
    for (const stgm::Task &task : set.tasks) {
        const stgm::Time jobs = until / task.period + 1;
        jobs_to_come = stgm::add(jobs_to_come, jobs);
        for (const stgm::Time part : stgm::worst_parts(task, set.sms))
            end = stgm::add(end, stgm::multiply(jobs, part));
    }
    if (jobs_to_come > stgm::Time{most_jobs})
        return fail(fmt::format(
            "{} jobs are too many for one schedule; --duration makes it shorter", jobs_to_come));
    if (end > most_time)
        return fail(fmt::format(
            "a schedule may last {} at most, and the jobs of this one may take longer", most_time));
    return {};
}

Answer<SimulateRequest> simulate_request(const Arguments &arguments) {
    const auto set = read_set(arguments.words[0]);
    if (!set)
        return fail(set.error());
    const auto options = analysis_of(arguments, *set);
    if (!options)
        return fail(options.error());
    // The simulation follows the protocol, whichever system the bounds are for.
    if (const auto allocated = need_allocation(*set, stgm::Method::stgm); !allocated)
        return fail(arguments.words[0] + ": " + allocated.error());
    stgm::Time longest = 0;
    for (const stgm::Task &task : set->tasks)
        longest = std::max(longest, task.period);
    const auto schedules = number_of(arguments, "--search", 1, 1, 1'000'000'000);
    const auto seed = number_of(arguments, "--seed", 1, 0);
    const auto until = time_of(arguments, "--duration", std::min(stgm::longest_time, 10 * longest),
                               1, set->time_unit);
    for (const auto *const one : {&schedules, &seed, &until})
        if (!*one)
            return fail(one->error());
    stgm::Choices first = stgm::synchronous(*set);
    for (const std::string &one : arguments.all("--offset")) {
        const auto offset = offset_of(one, *set);
        if (!offset)
            return fail(offset.error());
        first.offset[offset->first] = offset->second;
    }
    if (const auto can = can_simulate(*set, *until); !can)
        return fail(can.error());
    return SimulateRequest{.set = *set,
                           .analysis = *options,
                           .waiting = {options->busy, options->spin_copies && !options->busy},
                           .schedules = *schedules,
                           .seed = *seed,
                           .until = *until,
                           .until_others = std::min(*until, 3 * longest),
                           .first = std::move(first)};
}

/// Simulates @p plan, the first schedule, and searches among the others.
stgm::Found simulate_all(const SimulateRequest &request, const stgm::Plan &plan) {
    const stgm::TaskSet &set = request.set;
    stgm::Found found =
        request.schedules == 1
            ? stgm::Found{.worst = std::vector<stgm::Worst>(set.tasks.size()),
                          .misses = std::vector<std::uint64_t>(set.tasks.size())}
            : stgm::search(set, {.waiting = request.waiting,
                                 .schedules = static_cast<std::uint64_t>(request.schedules) - 1,
                                 .seed = static_cast<std::uint64_t>(request.seed),
                                 .until = request.until_others,
                                 .most_jobs = most_searched});
    const std::vector<stgm::Time> responses = stgm::simulate(set, request.waiting, plan);
    for (std::size_t job = 0; job < responses.size(); job++) {
        const std::size_t task = plan.jobs[job].task;
        if (responses[job] > found.worst[task].response)
            found.worst[task] = {responses[job], request.first};
        found.misses[task] += responses[job] > set.tasks[task].deadline;
    }
    found.schedules++;
    found.jobs += responses.size();
    return found;
}

Json simulate_rows(const stgm::TaskSet &set, const std::vector<stgm::Bound> &bounds,
                   const stgm::Found &found) {
    Json rows = Json::array();
    for (std::size_t task = 0; task < set.tasks.size(); task++) {
        const stgm::Time response = found.worst[task].response;
        const auto &bound = bounds[task].response;
        // The ratio is rounded down, so that 1 means at least the bound.
        const stgm::Time thousandths =
            bound && *bound && response >= 0 ? response * 1000 / *bound : -1;
        rows.push_back(
            {{"name", set.tasks[task].name},
             {"response", response < 0 ? Json() : Json(response)},
             {"bound", bound ? Json(*bound) : Json()},
             {"ratio", thousandths < 0 ? Json() : Json(static_cast<double>(thousandths) / 1000)},
             {"deadline", set.tasks[task].deadline},
             {"misses", found.misses[task]}});
    }
    return rows;
}

/// Returns the plan that `--output` shows: the first plan, if there is no other, or else the plan in
/// which a task came nearest to its deadline or passed it furthest.
stgm::Plan plan_to_show(const SimulateRequest &request, const stgm::Plan &first,
                        const stgm::Found &found) {
    if (request.schedules == 1)
        return first;
    std::size_t shown = 0;
    double most = -1;
    for (std::size_t task = 0; task < request.set.tasks.size(); task++) {
        const double pressing = static_cast<double>(found.worst[task].response) /
                                static_cast<double>(request.set.tasks[task].deadline);
        if (pressing > most) {
            most = pressing;
            shown = task;
        }
    }
    return stgm::plan_of(request.set, found.worst[shown].choices, request.until_others,
                         most_searched);
}

/// Returns the answer in the form that was asked for.
std::string simulate_text(const Arguments &arguments, const SimulateRequest &request,
                          const stgm::Found &found, const Json &rows, std::uint64_t misses) {
    const Json near = nearest(rows);
    if (arguments.has("--json"))
        return document(
            "simulate",
            {{"analysis", name_of(request.analysis.method)},
             {"waiting", request.waiting.busy ? "busy" : "suspend"},
             {"copy_wait",
              request.analysis.spin_copies || request.waiting.busy ? "spin" : "suspend"},
             {"time_unit", request.set.time_unit},
             {"schedules", found.schedules},
             {"jobs", found.jobs},
             {"seed", request.seed},
             {"nearest", near},
             {"tasks", rows}});
    if (arguments.has("--csv"))
        return csv(simulate_columns(), rows);
    const bool above = std::ranges::any_of(rows, [](const Json &row) {
        return row["bound"].is_number() && row["response"].is_number() &&
               row["response"] > row["bound"];
    });
    return table(simulate_columns(), rows) + "\n" +
           sentence(fmt::format(
               "{} schedule{}, {} jobs, {} deadlines missed; {} (times in {})", found.schedules,
               found.schedules == 1 ? "" : "s", found.jobs, misses,
               near.is_null() ? "no task has a bound"
                              : (above ? "most above its bound: " : "nearest to its bound: ") +
                                    printable(near.get<std::string>()),
               unit_of(request.set)));
}

Answer<Exit> run_simulate(const Arguments &arguments) {
    if (const auto form = knows_form_of_trace(arguments); !form)
        return fail(form.error());
    if (const auto other = are_other_files(arguments, {"--output"}, {arguments.words[0]}); !other)
        return fail(other.error());
    const auto request = simulate_request(arguments);
    if (!request)
        return fail(request.error());
    warn_of(request->analysis);
    if (!stgm::needs_sms(request->analysis.method))
        say(name_of(request->analysis.method) +
            ": its bounds are those of another system than the one that is simulated, in "
            "which responses may be longer");
    const std::vector<stgm::Bound> bounds = stgm::analyse(request->set, request->analysis);
    const stgm::Plan plan = stgm::plan_of(request->set, request->first, request->until, most_jobs);
    const stgm::Found found = simulate_all(*request, plan);
    if (arguments.has("--output"))
        if (const auto shown = write_trace(arguments, request->set,
                                           plan_to_show(*request, plan, found), request->waiting);
            !shown)
            return fail(shown.error());
    const std::uint64_t misses =
        std::accumulate(found.misses.begin(), found.misses.end(), std::uint64_t{0});
    const Json rows = simulate_rows(request->set, bounds, found);
    return write(simulate_text(arguments, *request, found, rows, misses)).map([&] {
        return misses ? refused : done;
    });
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
