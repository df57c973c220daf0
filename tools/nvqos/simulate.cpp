// SPDX-License-Identifier: MIT OR GPL-2.0
#include "simulate.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "command_line.hpp"
#include "goals.hpp"
#include "lib/base/input_file.hpp"
#include "lib/base/printable.hpp"
#include "lib/cli/main.hpp"
#include "lib/cli/message.hpp"
#include "lib/simulation/result.hpp"
#include "lib/simulation/scenario_read.hpp"
#include "refusal.hpp"

namespace nvqos {
namespace {

using nvdebug::cli::Arguments;

constexpr const char *verb_name = "simulate";

/// The table of this verb alone: the other command lines of nvqos have no verb.
const nvdebug::cli::Program &simulate_program() {
    static const nvdebug::cli::Program program{
        .name = "nvqos",
        .version = NVQOS_VERSION,
        .help = "Keep goals for tasks that share a GPU.",
        .verbs = {{
            .name = verb_name,
            .help = "what goals would do, without a GPU",
            .words = {"SCENARIO"},
            .options = {{"--none", "as it is, without goals"},
                        {"--json", "one JSON object in place of the table", "", "-j"}},
            .notes = "SCENARIO is a JSON file with GPUs, jobs and their goals (docs/simulate.md). "
                     "It takes no GPU, no driver and no rights, and the same file gives the same "
                     "output on each machine.\n\n"
                     "Exit status: 0: every goal was kept; 1: usage, or the file makes no sense; "
                     "2: refused, as goals cannot be kept; 4: a goal was not kept; 5: failed, may "
                     "work later.",
            .examples = {{"nvqos simulate two-trainings.json", "what each job would get"},
                         {"nvqos simulate --none two-trainings.json", "the same without goals"}},
        }},
        .exit_status = "",
        .manual = "nvqos(1)"};
    return program;
}

tl::expected<qos::Goal, std::string> read_goal(std::string_view text) {
    auto goal = parse_goal(text);
    if (!goal)
        return tl::unexpected(goal.error().sentence);
    return *goal;
}

/// Returns why the goals on a GPU would be refused there; empty: they would not.
std::optional<std::string> refusal_on(const simulation::Scenario &scenario, std::size_t gpu) {
    Asked asked;
    for (const simulation::Job &job : scenario.jobs)
        if (std::ranges::count(job.gpus, gpu))
            asked.tenants.push_back({.name = job.name, .who = {}, .goal = job.goal});
    const auto refusals = refusals_of(asked);
    if (refusals.empty())
        return std::nullopt;
    return fmt::format("gpu{}: {}", gpu, refusals.front());
}

simulation::Result result_of(const simulation::Scenario &scenario) {
    for (std::size_t gpu = 0; scenario.has_control && gpu < scenario.gpus.count; gpu++)
        if (auto refused = refusal_on(scenario, gpu)) {
            simulation::Result result;
            result.refused = std::move(refused);
            return result;
        }
    return simulation::simulate(scenario);
}

Outcome<Exit> perform(const Arguments &arguments) {
    const std::string &path = arguments.words.front();
    const auto text = nvdebug::base::read_whole(path, simulation::largest_scenario);
    if (!text)
        return fail(bad_usage, text.error());
    auto scenario = simulation::read_scenario(*text, read_goal);
    if (!scenario)
        return fail(bad_usage, nvdebug::base::printable(path) + ": " + scenario.error());
    if (arguments.has("--none"))
        scenario->has_control = false;
    const simulation::Result result = result_of(*scenario);
    const int error =
        nvdebug::cli::write_out(arguments.has("--json") ? simulation::json_of(result)
                                                        : simulation::table_of(*scenario, result));
    if (error)
        return fail(failed, std::string("cannot write to stdout: ") + std::strerror(error));
    return result.refused ? refused : result.all_kept() ? done : partial;
}

} // namespace

bool is_simulation(const std::vector<std::string> &words) {
    const std::size_t at = nvdebug::cli::find_verb_word(program(), words);
    if (at < words.size() && words[at] == verb_name)
        return true;
    // The last word is the one that is being typed.
    const bool completes = !words.empty() && words[0] == "__complete" && words.size() > 2;
    const bool asks_for_help = words.size() > 1 && words[0] == "help";
    return (completes || asks_for_help) && words[1] == verb_name;
}

Exit simulate(const std::vector<std::string> &words) {
    return static_cast<Exit>(
        nvdebug::cli::run(simulate_program(), words, [](const nvdebug::cli::Parsed &parsed) -> int {
            const auto status = perform(parsed.arguments);
            return status ? *status
                          : nvdebug::cli::refuse(simulate_program(), parsed.json,
                                                 status.error().exit, status.error().sentence);
        }));
}

} // namespace nvqos
