// SPDX-License-Identifier: MIT OR GPL-2.0
#include "simulate.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "goals.hpp"
#include "lib/base/input_file.hpp"
#include "lib/base/output_file.hpp"
#include "lib/base/printable.hpp"
#include "lib/cli/message.hpp"
#include "lib/simulation/result.hpp"
#include "lib/simulation/scenario_read.hpp"
#include "refusal.hpp"
#include "trace.hpp"

namespace nvqos {
namespace {

tl::expected<qos::Goal, std::string> read_goal(std::string_view text) {
    auto goal = parse_goal(text);
    if (!goal)
        return tl::unexpected(goal.error().sentence);
    return *goal;
}

/// Returns why nvqos would refuse the goals on a GPU; empty: it would take them.
std::optional<std::string> refusal_on(const simulation::Scenario &scenario, std::size_t gpu) {
    Goals goals;
    for (const simulation::Job &job : scenario.jobs)
        if (std::ranges::count(job.gpus, gpu))
            goals.tenants.push_back({.name = job.name, .who = {}, .goal = job.goal});
    const auto refusals = refusals_of(goals);
    if (refusals.empty())
        return std::nullopt;
    return fmt::format("gpu{}: {}", gpu, refusals.front());
}

/// Returns why the goals of jobs on several GPUs cannot be kept together, although those of each GPU
/// can.
std::optional<std::string> refusal_of_gangs(const simulation::Scenario &scenario) {
    std::vector<qos::GangTenant> tenants;
    for (const simulation::Job &job : scenario.jobs) {
        const auto added =
            gang_tenants(job.name, job.goal, job.gang, {job.gpus.begin(), job.gpus.end()});
        tenants.insert(tenants.end(), added.begin(), added.end());
    }
    return refusal_of_clash(tenants);
}

simulation::Result result_of(const simulation::Scenario &scenario, simulation::Observer *observer) {
    if (auto refused = refusal_of(scenario)) {
        simulation::Result result;
        result.refused = std::move(refused);
        result.model = scenario.gpus.model;
        return result;
    }
    return simulation::simulate(scenario, observer);
}

} // namespace

std::optional<std::string> refusal_of(const simulation::Scenario &scenario) {
    if (!scenario.has_control)
        return std::nullopt;
    for (std::size_t gpu = 0; gpu < scenario.gpus.count; gpu++)
        if (auto refused = refusal_on(scenario, gpu))
            return refused;
    return refusal_of_gangs(scenario);
}

Outcome<Exit> simulate(const nvdebug::cli::Arguments &arguments) {
    const std::string &path = arguments.words.front();
    if (arguments.has("--output"))
        if (const auto why =
                nvdebug::base::why_not_write("--output", arguments.text("--output"), path))
            return fail(bad_usage, *why);
    const auto text = nvdebug::base::read_once(path, simulation::largest_scenario);
    if (!text)
        return fail(of_file(text.error().error), text.error().sentence);
    auto scenario = simulation::read_scenario(*text, read_goal);
    if (!scenario)
        return fail(bad_usage, nvdebug::base::input_name(path) + ": " + scenario.error());
    if (arguments.has("--none"))
        scenario->has_control = false;
    std::unique_ptr<Trace> trace;
    if (arguments.has("--output")) {
        auto opened = Trace::open(arguments.text("--output"), *scenario);
        if (!opened)
            return tl::unexpected(opened.error());
        trace = std::move(*opened);
    }
    const simulation::Result result = result_of(*scenario, trace.get());
    if (trace && !result.refused)
        if (auto finished = trace->finish(); !finished)
            return tl::unexpected(finished.error());
    const int error =
        nvdebug::cli::write_out(arguments.has("--json") ? simulation::json_of(result)
                                                        : simulation::table_of(*scenario, result));
    if (error)
        return fail(failed, std::string("cannot write to stdout: ") + std::strerror(error));
    return result.refused ? refused : result.all_kept() ? done : partial;
}

} // namespace nvqos
