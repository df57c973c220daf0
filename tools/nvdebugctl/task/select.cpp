// SPDX-License-Identifier: MIT OR GPL-2.0
#include "select.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/text.hpp"

namespace nvdebugctl {

namespace {

constexpr std::array selections = {"--container", "--pod",     "--job",
                                   "--cgroup",    "--command", "--all-of"};

/// `17` or `17.0`, as nvdebug::TaskSelection has it.
bool is_job(std::string_view text) {
    const std::size_t dot = text.find('.');
    const std::string_view job = text.substr(0, dot);
    return !job.empty() && job.find_first_not_of("0123456789") == job.npos &&
           dot + 1 != text.size();
}

} // namespace

std::vector<Option> selection_options() {
    return {{"--container", "processes in the container whose id begins so", "ID"},
            {"--pod", "processes in the Kubernetes pod whose uid begins so", "UID"},
            {"--job", "processes of this Slurm job, or of one step of it, as 17.0", "JOB[.STEP]"},
            {"--cgroup", "processes in this cgroup or below it", "PATH"},
            {"--command", "processes of this name", "NAME"},
            {"--all-of", "this process and all that descend from it", "PID"}};
}

nvdebug::TaskSelection selection_of(const Context &context) {
    nvdebug::TaskSelection selection{.container = context.value("--container"),
                                     .pod = context.value("--pod"),
                                     .job = context.value("--job"),
                                     .cgroup = context.value("--cgroup"),
                                     .command = context.value("--command")};
    if (const auto pid = context.value("--all-of"))
        selection.ancestor = parse_id(*pid);
    return selection;
}

Outcome<void> check_selection_options(const Context &context) {
    if (const auto pid = context.value("--all-of"); pid && !parse_id(*pid))
        return usage(fmt::format("--all-of takes the number of a process, not '{}'", *pid));
    if (const auto job = context.value("--job"); job && !is_job(*job))
        return usage(fmt::format("--job takes the number of a job, or of a job and a step, as 17 "
                                 "or 17.0, not '{}'; 'squeue -o %A' lists jobs by number, also "
                                 "those of arrays",
                                 *job));
    for (const char *const option : {"--container", "--pod"})
        if (const auto id = context.value(option); id && id->empty())
            return usage(fmt::format("{} takes the beginning of an id, and it is empty", option));
    return {};
}

Outcome<void> check_selection(const Context &context) {
    const bool by_option = std::ranges::any_of(
        selections, [&](const char *option) { return context.value(option).has_value(); });
    for (const std::string &word : context.words("PID"))
        if (!parse_id(word))
            return usage(fmt::format(
                "'{}' is no number of a process (PID); 'nvdebugctl task list' lists them", word));
    if (auto options = check_selection_options(context); !options)
        return options;
    if (context.words("PID").empty() == !by_option)
        return usage(by_option ? "give processes either by PID or by options, not both"
                               : "no process is given: write a PID, --container, --pod, --job, "
                                 "--cgroup, --command "
                                 "or --all-of; 'nvdebugctl task list' lists them");
    return {};
}

Outcome<std::vector<std::uint32_t>> selected(Context &context) {
    std::vector<std::uint32_t> pids;
    for (const std::string &word : context.words("PID"))
        pids.push_back(*parse_id(word));
    if (!pids.empty())
        return pids;
    const auto owners = context.gpu().owners();
    if (!owners)
        return tl::unexpected(Failure(owners.error()));
    pids = nvdebug::select(selection_of(context), *owners);
    if (!pids.empty())
        return pids;
    std::vector<std::string> given;
    for (const char *const option : selections)
        if (const auto value = context.value(option))
            given.push_back(fmt::format("{} {}", option, *value));
    return fail(nvdebug::ErrorCode::not_found,
                fmt::format("no process with a GPU context on {} fits {}; {}",
                            context.gpu().folder(), fmt::join(given, " "),
                            nvdebug::describe_owners(*owners)));
}

} // namespace nvdebugctl
