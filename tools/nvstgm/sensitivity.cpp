// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lib/stgm/sensitivity.hpp"

#include <fmt/format.h>
#include <numeric>

#include "check.hpp"

namespace nvstgm {
namespace {

/// Each part takes up to 50 analyses, of a set of 10,000 tasks some ms each.
constexpr std::size_t most_parts = 4'096;

const char *part_name(stgm::Part part) {
    return part == stgm::Part::cpu         ? "cpu"
           : part == stgm::Part::to_device ? "to_device"
           : part == stgm::Part::kernel    ? "kernel"
                                           : "from_device";
}

/// Returns the places of the tasks of `--task`, or of all tasks.
Outcome<std::vector<std::size_t>> chosen_tasks(const Arguments &arguments,
                                               const stgm::TaskSet &set) {
    std::vector<std::size_t> chosen;
    for (const std::string &name : arguments.all("--task")) {
        const auto task = std::ranges::find(set.tasks, name, &stgm::Task::name);
        if (task == set.tasks.end())
            return fail("--task: there is no task '" + printable(name) + "'");
        chosen.push_back(static_cast<std::size_t>(task - set.tasks.begin()));
    }
    if (chosen.empty()) {
        chosen.resize(set.tasks.size());
        std::iota(chosen.begin(), chosen.end(), 0);
    }
    std::size_t parts = 0;
    for (const std::size_t task : chosen)
        parts += stgm::parts_of(set.tasks[task]);
    if (parts > most_parts)
        return fail(fmt::format("the segments have {} parts, and {} are examined at most: choose "
                                "tasks with --task",
                                parts, most_parts));
    return chosen;
}

Json row_of(const stgm::TaskSet &set, const stgm::Room &room) {
    const Json most = room.most ? Json(*room.most) : Json();
    const bool has_percent = room.most && room.length;
    return {{"name", set.tasks[room.task].name},
            {"segment", room.segment},
            {"part", part_name(room.part)},
            {"length", room.length},
            {"most", most},
            {"room", room.most ? Json(*room.most - room.length) : Json()},
            {"percent", has_percent ? Json(rounded(static_cast<double>(*room.most - room.length) *
                                                   100 / static_cast<double>(room.length)))
                                    : Json()},
            {"first", set.tasks[room.first].name}};
}

std::vector<Column> room_columns() {
    return {{"name", "task", true},     {"segment", "segment", false, 1},
            {"part", "part", true},     {"length", "length", false, 2},
            {"most", "most"},           {"room", "room", false, 5},
            {"percent", "%", false, 4}, {"first", "fails first", true, 3}};
}

std::string verdict(const stgm::TaskSet &set, const std::optional<stgm::Time> &factor,
                    stgm::Method method) {
    const bool schedulable = factor && *factor >= 1000;
    const std::string times =
        factor ? fmt::format("{:.3f}", static_cast<double>(*factor) / 1000) : "";
    return (!factor ? "NOT schedulable, even if no segment takes any time"
            : *factor == stgm::most_growth
                ? "schedulable, even if all segments take 1000 times as long"
                : fmt::format("{}: all segments together may take {} times as long",
                              schedulable ? "schedulable" : "NOT schedulable", times)) +
           fmt::format(" ({}; times in {})", name_of(method), unit_of(set));
}

Answer<Exit> run_sensitivity(const Arguments &arguments) {
    const auto set = read_set(arguments.words[0]);
    if (!set)
        return fail(set.error());
    const auto options = analysis_of(arguments, *set);
    if (!options)
        return fail(options.error());
    const auto chosen = chosen_tasks(arguments, *set);
    if (!chosen)
        return fail(arguments.words[0] + ": " + chosen.error());
    if (const auto allocated = need_allocation(*set, options->method); !allocated)
        return fail(arguments.words[0] + ": " + allocated.error());
    warn_of(*options);
    Json rows = Json::array();
    for (const stgm::Room &room : stgm::rooms(*set, *options, *chosen))
        rows.push_back(row_of(*set, room));
    const auto factor = stgm::growth(*set, *options);
    const bool schedulable = factor && *factor >= 1000;
    std::string text;
    if (arguments.has("--json"))
        text = document("sensitivity",
                        {{"schedulable", schedulable},
                         {"analysis", name_of(options->method)},
                         {"waiting", options->busy ? "busy" : "suspend"},
                         {"copy_wait", options->spin_copies || options->busy ? "spin" : "suspend"},
                         {"time_unit", set->time_unit},
                         {"factor", factor ? Json(static_cast<double>(*factor) / 1000) : Json()},
                         {"parts", rows}});
    else if (arguments.has("--csv"))
        text = csv(room_columns(), rows);
    else
        text =
            table(room_columns(), rows) + "\n" + sentence(verdict(*set, factor, options->method));
    return write(text).map([&] { return schedulable ? done : refused; });
}

} // namespace

Command sensitivity_command() {
    return {{"sensitivity",
             "how much longer each segment may take until a deadline may be missed",
             {"SET"},
             std::vector<Option>{
                 {"--task", "this task's segments alone; may be repeated", "NAME", "", {}, true}} +
                 analysis_options() + form_options(),
             "'most' is the longest time of that part with which the set is schedulable, if all "
             "other times stay as\n"
             "they are; of a kernel, on the task's SMs. If the set is not schedulable, it is what "
             "the part is to be\n"
             "shortened to, or '-' if that does not suffice. Exit status 0: schedulable, 2: not.",
             {{"nvstgm sensitivity placed.json", "which segments have room, and how much?"},
              {"nvstgm sensitivity placed.json --task camera -j", "those of one task, as JSON"}}},
            run_sensitivity};
}

} // namespace nvstgm
