// SPDX-License-Identifier: MIT OR GPL-2.0
#include "check.hpp"

#include <cmath>
#include <fmt/format.h>

#include "forms.hpp"

namespace nvstgm {

Json rows_of(const stgm::TaskSet &set, std::span<const stgm::Bound> bounds, stgm::Method method) {
    const stgm::Model model(set);
    Json rows = Json::array();
    for (std::size_t n = 0; n < set.tasks.size(); n++) {
        const stgm::Task &task = set.tasks[n];
        const stgm::Bound &bound = bounds[n];
        rows.push_back({{"name", task.name},
                        {"response", bound.response ? Json(*bound.response) : Json()},
                        {"deadline", task.deadline},
                        {"slack", bound.response ? Json(task.deadline - *bound.response) : Json()},
                        {"blocking",
                         {{"copy", bound.blocking.copy},
                          {"kernel", bound.blocking.kernel},
                          {"inversion", bound.blocking.inversion}}},
                        {"preemption", bound.preemption},
                        {"largest", stgm::largest_term(model[n], bound, method)}});
    }
    return rows;
}

Json data_of(const stgm::TaskSet &set, const stgm::Options &options, bool schedulable, Json rows) {
    return {{"schedulable", schedulable},
            {"analysis", name_of(options.method)},
            {"waiting", options.busy ? "busy" : "suspend"},
            {"copy_wait", options.spin_copies || options.busy ? "spin" : "suspend"},
            {"time_unit", set.time_unit},
            {"tasks", std::move(rows)}};
}

std::vector<Column> task_columns() {
    return {{"name", "task", true},
            {"response", "response"},
            {"deadline", "deadline"},
            {"slack", "slack", false, 6},
            {"/blocking/copy", "copies", false, 3},
            {"/blocking/kernel", "kernels", false, 4},
            {"/blocking/inversion", "inversion", false, 1},
            {"preemption", "preemption", false, 2},
            {"largest", "largest term", true, 5}};
}

std::string unit_of(const stgm::TaskSet &set) {
    return set.time_unit == "us" ? "us" : "ticks";
}

double rounded(double number) {
    return std::round(number * 10) / 10;
}

std::string verdict_on(const stgm::TaskSet &set, std::span<const stgm::Bound> bounds,
                       stgm::Method method) {
    const auto lacking =
        std::ranges::count_if(bounds, [](const auto &bound) { return !bound.response; });
    return (stgm::schedulable(bounds)
                ? "schedulable: each response is within its deadline"
                : fmt::format("NOT schedulable: {} of {} tasks {} no bound within the deadline",
                              lacking, bounds.size(), lacking == 1 ? "has" : "have")) +
           fmt::format(" ({}; times in {})", name_of(method), unit_of(set));
}

namespace {

Answer<Exit> run_check(const Arguments &arguments) {
    const auto set = read_set(arguments.words[0]);
    if (!set)
        return fail(set.error());
    const auto options = analysis_of(arguments, *set);
    if (!options)
        return fail(options.error());
    if (const auto allocated = need_allocation(*set, options->method); !allocated)
        return fail(arguments.words[0] + ": " + allocated.error());
    warn_of(*options);
    if (options->method == stgm::Method::federated && stgm::shares_sms(*set))
        say("federated: tasks that share SMs have no bound, as each is to have its own");
    const std::vector<stgm::Bound> bounds = stgm::analyse(*set, *options);
    const bool schedulable = stgm::schedulable(bounds);
    const Json rows = rows_of(*set, bounds, options->method);
    std::string text;
    if (arguments.has("--json")) {
        text = document("check", data_of(*set, *options, schedulable, rows));
    } else if (arguments.has("--csv")) {
        text = csv(task_columns(), rows);
    } else {
        text = table(task_columns(), rows) + "\n" +
               sentence(verdict_on(*set, bounds, options->method));
    }
    return write(text).map([&] { return schedulable ? done : refused; });
}

} // namespace

Command check_command() {
    return {
        {"check",
         "bounds each task's response time at the cores and SMs in the file",
         {"SET"},
         analysis_options() + form_options(),
         "SET is a task set (nvstgm(1)), '-' for stdin. For mpcp, fmlp, server and timeslice a "
         "task "
         "without\n"
         "'sms' has all SMs. Exit status 0: schedulable, 2: not.",
         {{"nvstgm check robot.json", "is every deadline met?"},
          {"nvstgm check robot.json --waiting busy -j", "the same with tasks that spin, as JSON"}}},
        run_check};
}

} // namespace nvstgm
