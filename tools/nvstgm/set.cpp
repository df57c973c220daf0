// SPDX-License-Identifier: MIT OR GPL-2.0
// Functions for commands about a task set: they read its file and the options of analyses.
#include <algorithm>
#include <fmt/format.h>

#include "command.hpp"
#include "forms.hpp"
#include "lib/base/input_file.hpp"
#include "lib/base/words.hpp"
#include "lib/cli/message.hpp"

namespace nvstgm {

void say(const std::string &sentence) {
    nvdebug::cli::say("nvstgm", sentence);
}

Outcome<std::int64_t> number_of(const Arguments &arguments, const std::string &option,
                                std::int64_t otherwise, std::int64_t least, std::int64_t most) {
    return arguments.number(option, otherwise, least, most);
}

namespace {

/// Returns a time in the set's unit, or nullopt if the text is no time or below @p least.
std::optional<stgm::Time> parse_set_time(const std::string &text, const std::string &unit,
                                         stgm::Time least) {
    auto time = nvdebug::base::parse_whole(text);
    if (const auto ns = nvdebug::base::parse_time_ns(text); ns && unit == "us" && *ns % 1000 == 0)
        time = static_cast<stgm::Time>(*ns / 1000);
    return time && *time >= least && *time <= stgm::longest_time ? time : std::nullopt;
}

/// Returns a phrase for errors that names the forms of times.
std::string times_of(const std::string &unit) {
    return unit == "us" ? "a time as 500us or 2ms, or a whole number of microseconds"
                        : "a whole number of ticks";
}

} // namespace

Outcome<stgm::Time> time_of(const Arguments &arguments, const std::string &option,
                            stgm::Time otherwise, stgm::Time least, const std::string &unit) {
    if (!arguments.has(option))
        return otherwise;
    const auto time = parse_set_time(arguments.text(option), unit, least);
    if (!time)
        return fail(fmt::format("{} takes {}, at least {}, not {}", option, times_of(unit), least,
                                nvdebug::base::quote(arguments.text(option))));
    return *time;
}

Answer<stgm::TaskSet> read_set(const std::string &path) {
    const auto text = nvdebug::base::read_once(path, stgm::limit::file_bytes);
    if (!text)
        return fail(nvdebug::base::exit_status::of_file(text.error().error), text.error().sentence);
    auto set = stgm::parse(*text);
    if (!set)
        return fail(nvdebug::base::input_name(path) + ": " + set.error());
    return set;
}

std::string name_of(stgm::Method method) {
    for (const stgm::MethodName &one : stgm::method_names)
        if (one.method == method)
            return one.name;
    return "";
}

Outcome<std::pair<std::size_t, stgm::Time>> offset_of(const std::string &typed,
                                                      const stgm::TaskSet &set) {
    const std::size_t equal = typed.rfind('=');
    const std::string name = typed.substr(0, equal),
                      number = equal == typed.npos ? "" : typed.substr(equal + 1);
    const auto time = parse_set_time(number, set.time_unit, 0);
    if (!time)
        return fail("--offset takes NAME=TIME, " + times_of(set.time_unit) + ", not " +
                    nvdebug::base::quote(typed));
    const auto task = std::ranges::find(set.tasks, name, &stgm::Task::name);
    if (task == set.tasks.end())
        return fail("--offset: there is no task '" + printable(name) + "'");
    return std::pair{static_cast<std::size_t>(task - set.tasks.begin()), *time};
}

Outcome<void> need_allocation(const stgm::TaskSet &set, stgm::Method method) {
    for (const stgm::Task &task : set.tasks) {
        const bool lacks_sms = task.uses_gpu() && !task.sms && stgm::needs_sms(method);
        if (!task.core || lacks_sms)
            return fail(fmt::format("task '{}' has no '{}'; 'nvstgm allocate' finds cores and SMs",
                                    task.name, task.core ? "sms" : "core"));
    }
    return {};
}

void warn_of(const stgm::Options &options) {
    if (options.method != stgm::Method::printed)
        return;
    say(options.busy ? "stgm-printed: these bounds are NOT safe. Equations 5 and 6 leave out "
                       "kernels that wait for others, 9 "
                       "has the blocking of the wrong task, 11 and 12 leave out that the segments "
                       "of lower priority wait; "
                       "--analysis stgm has the equations that hold"
                     : "stgm-printed: these bounds are NOT safe. Equations 5 and 6 leave out "
                       "kernels that wait for others, 7 "
                       "has one copy of two, 8 counts CPU segments and not the times a job comes "
                       "to the CPU, and 1 and 3 hold "
                       "only while waiting for the copy engine frees the CPU; --analysis stgm has "
                       "the equations that hold");
}

std::vector<Option> form_options() {
    return {{"--json", "as JSON (schemas: share/nvdebug/schema/nvstgm.*.json)", "", "-j"},
            {"--csv", "as comma-separated values"}};
}

std::vector<Option> analysis_options() {
    std::vector<std::string> names;
    for (const stgm::MethodName &one : stgm::method_names)
        names.push_back(one.name);
    return {{"--analysis", "which bounds", "NAME", "-a", names},
            {"--waiting",
             "what a task does while its kernel waits and runs",
             "HOW",
             "",
             {"suspend", "busy"}},
            {"--copy-wait",
             "what it does while it waits for the copy engine; busy: it spins anyway",
             "HOW",
             "",
             {"suspend", "spin"}},
            {"--timeslice", "of timeslice: a task's (default: 2ms, 1 tick)", "TIME"},
            {"--turn-extra", "of timeslice: what a turn takes beyond it (default: 103us, 0 ticks)",
             "TIME"},
            {"--turn-switch", "of timeslice: changing to the next task (default: 84us, 0 ticks)",
             "TIME"},
            {"--server-core", "of server: the core of the server (default: 0)", "N"},
            {"--server-overhead",
             "of server: its own work, twice for each GPU segment (default: 0)", "TIME"}};
}

Outcome<stgm::Options> analysis_of(const Arguments &arguments, const stgm::TaskSet &set) {
    stgm::Options options;
    for (const stgm::MethodName &one : stgm::method_names)
        if (arguments.text("--analysis", "stgm") == one.name)
            options.method = one.method;
    options.busy = arguments.text("--waiting") == "busy";
    options.spin_copies = arguments.text("--copy-wait") == "spin";
    const bool us = set.time_unit == "us";
    const auto timeslice = time_of(arguments, "--timeslice", us ? 2000 : 1, 1, set.time_unit);
    const auto extra = time_of(arguments, "--turn-extra", us ? 103 : 0, 0, set.time_unit);
    const auto change = time_of(arguments, "--turn-switch", us ? 84 : 0, 0, set.time_unit);
    const auto core = number_of(arguments, "--server-core", 0, 0, std::int64_t{set.cores} - 1);
    const auto overhead = time_of(arguments, "--server-overhead", 0, 0, set.time_unit);
    for (const auto *const one : {&timeslice, &extra, &change, &core, &overhead})
        if (!*one)
            return fail(one->error());
    options.timeslice = *timeslice;
    options.turn_extra = *extra;
    options.turn_switch = *change;
    options.server_core = static_cast<std::uint32_t>(*core);
    options.server_overhead = *overhead;
    return options;
}

} // namespace nvstgm
