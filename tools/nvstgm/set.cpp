// SPDX-License-Identifier: MIT OR GPL-2.0
// What commands about a task set have in common: its file, and the options of analyses.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>

#include "command.hpp"
#include "forms.hpp"

namespace nvstgm {

void say(const std::string &sentence) {
    std::fprintf(stderr, "nvstgm: %s\n", printable(sentence).c_str());
}

Outcome<stgm::TaskSet> read_set(const std::string &path) {
    std::FILE *const file = path == "-" ? stdin : std::fopen(path.c_str(), "rbe");
    const auto cannot = [&](int error) {
        return fail(path + " cannot be read: " + std::strerror(error));
    };
    if (!file)
        return cannot(errno);
    std::string text;
    std::size_t got = 1;
    // One byte more than there may be: that it is too long is found by parse().
    while (got && text.size() <= stgm::limit::file_bytes) {
        char part[std::size_t{1} << 16];
        got = std::fread(part, 1, sizeof part, file);
        text.append(part, got);
    }
    const int error = std::ferror(file) ? errno : 0;
    if (file != stdin)
        std::fclose(file);
    if (error)
        return cannot(error);
    auto set = stgm::parse(text);
    if (!set)
        return fail(path + ": " + set.error());
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
    stgm::Time time = -1;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), time);
    if (error != std::errc() || end != number.data() + number.size() || time < 0 ||
        time > stgm::longest_time)
        return fail("--offset takes NAME=TIME, not '" + printable(typed) + "'");
    const auto task = std::ranges::find(set.tasks, name, &stgm::Task::name);
    if (task == set.tasks.end())
        return fail("--offset: there is no task '" + printable(name) + "'");
    return std::pair{static_cast<std::size_t>(task - set.tasks.begin()), time};
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
    return {
        {"--analysis", "which bounds", "NAME", "-a", names},
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
        {"--timeslice", "of timeslice: a task's (default: 2000 us, 1 tick)", "N"},
        {"--turn-extra", "of timeslice: what a turn takes beyond it (default: 103 us, 0 ticks)",
         "N"},
        {"--turn-switch", "of timeslice: changing to the next task (default: 84 us, 0 ticks)", "N"},
        {"--server-core", "of server: the core of the server (default: 0)", "N"},
        {"--server-overhead", "of server: its own work, twice for each GPU segment (default: 0)",
         "N"}};
}

Outcome<stgm::Options> analysis_of(const Arguments &arguments, const stgm::TaskSet &set) {
    stgm::Options options;
    for (const stgm::MethodName &one : stgm::method_names)
        if (arguments.text("--analysis", "stgm") == one.name)
            options.method = one.method;
    options.busy = arguments.text("--waiting") == "busy";
    options.spin_copies = arguments.text("--copy-wait") == "spin";
    const bool us = set.time_unit == "us";
    const auto timeslice = arguments.number("--timeslice", us ? 2000 : 1, 1);
    const auto extra = arguments.number("--turn-extra", us ? 103 : 0, 0);
    const auto change = arguments.number("--turn-switch", us ? 84 : 0, 0);
    const auto core = arguments.number("--server-core", 0, 0, std::int64_t{set.cores} - 1);
    const auto overhead = arguments.number("--server-overhead", 0, 0);
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
