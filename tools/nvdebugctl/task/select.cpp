// SPDX-License-Identifier: MIT OR GPL-2.0
#include "select.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/text.hpp"
#include "lib/base/printable.hpp"
#include "lib/base/task_name.hpp"

namespace nvdebugctl {

namespace {

constexpr std::array selections = {"--container", "--pod",     "--job",
                                   "--cgroup",    "--command", "--all-of"};

/// Returns the value of an option in the form in which it is compared with the facts about
/// processes.
nvdebug::base::Named<std::string> read(std::string_view option, const std::string &word) {
    namespace base = nvdebug::base;
    if (option == "--container")
        return base::read_container(word);
    if (option == "--pod")
        return base::read_pod(word);
    if (option == "--job")
        return base::read_job(word);
    if (option == "--cgroup")
        return base::read_cgroup(word);
    if (option == "--command")
        return base::read_command(word);
    return base::read_pid(word).map([&](std::uint32_t) { return word; });
}

/// Returns what the option takes, for a sentence.
const char *wanted(std::string_view option) {
    return option == "--container" ? "the id of a container"
           : option == "--pod"     ? "the uid of a pod"
           : option == "--job"     ? "the number of a job"
           : option == "--cgroup"  ? "the path of a cgroup"
           : option == "--command" ? "the name of a command"
                                   : "the number of a process";
}

/// Returns the given options with their values.
std::vector<std::string> given(const Context &context) {
    std::vector<std::string> words;
    for (const char *const option : selections)
        if (const auto value = context.value(option))
            words.push_back(fmt::format("{} {}", option, nvdebug::base::printable(*value)));
    return words;
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
    const auto word = [&](const char *option) -> std::optional<std::string> {
        const auto value = context.value(option);
        const auto name = value ? read(option, *value) : nvdebug::base::Named<std::string>("");
        return value && name ? std::optional(*name) : value;
    };
    nvdebug::TaskSelection selection{.container = word("--container"),
                                     .pod = word("--pod"),
                                     .job = word("--job"),
                                     .cgroup = word("--cgroup"),
                                     .command = word("--command")};
    if (const auto pid = context.value("--all-of"))
        selection.ancestor = parse_id(*pid);
    return selection;
}

Outcome<void> check_selection_options(const Context &context) {
    for (const char *const option : selections)
        if (const auto value = context.value(option))
            if (const auto name = read(option, *value); !name)
                return usage(fmt::format("{} takes {}: {}", option, wanted(option), name.error()));
    return {};
}

void note_selection(Context &context, bool any) {
    if (const auto command = context.value("--command"))
        if (std::string note = nvdebug::base::note_on_command(*command); !note.empty())
            context.note(std::move(note));
    const std::vector<std::string> words = given(context);
    if (any || words.empty())
        return;
    std::string sentence = fmt::format("no process fits {}", fmt::join(words, " "));
    if (const auto path = selection_of(context).cgroup;
        path && context.tree().live() && nvdebug::base::is_cgroup(*path) == false)
        sentence += fmt::format("; there is no cgroup {} now", nvdebug::base::printable(*path));
    context.note(std::move(sentence));
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
    note_selection(context, true);
    if (!pids.empty())
        return pids;
    return fail(nvdebug::ErrorCode::not_found,
                fmt::format("no process with a GPU context on {} fits {}; {}",
                            context.gpu().folder(), fmt::join(given(context), " "),
                            nvdebug::describe_owners(*owners)));
}

} // namespace nvdebugctl
