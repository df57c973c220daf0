// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>

#include "cli/joined.hpp"
#include "cli/json.hpp"
#include "objects.hpp"
#include "state/tasks.hpp"
#include "task/select.hpp"

namespace nvdebugctl {

namespace {

using nvdebug::OwnedTsg;
using nvdebug::OwnersOnLists;

/// Returns the row of one TSG of a process.
/// @param tsg empty: no TSG of the process is known
Json row(const Context &context, const OwnersOnLists &tasks, const nvdebug::Process &process,
         const OwnedTsg &tsg) {
    const nvdebug::OwnedChannel *const first = tsg.empty() ? nullptr : tsg.front();
    const nvdebug::RunlistPlace *const place = tasks.place_of(tsg);
    Json row = head_of(context, process);
    row.update(
        {{"runlist", place ? Json(place->runlist) : Json()},
         {"tsg", place ? or_null(place->tsg) : Json()},
         {"timeslice_us", first ? timeslice_of(tasks, tsg) : Json()},
         {"asked_us", first && first->timeslice_ns ? microseconds(*first->timeslice_ns) : Json()},
         {"channels", first ? Json(tsg.size()) : Json()},
         {"client", first ? hex(first->client) : Json()},
         {"client_tsg", first ? hex(first->tsg) : Json()}});
    return row;
}

Outcome<Document> list_processes(Context &context) {
    const auto tasks = read_tasks(context);
    if (!tasks)
        return tl::unexpected(tasks.error());
    Json rows = Json::array();
    const nvdebug::TaskSelection selection = selection_of(context);
    for (const nvdebug::Process &process : tasks->owners().processes) {
        if (!selection.empty() && !nvdebug::is_selected(selection, process))
            continue;
        const auto tsgs = nvdebug::tsgs_of(tasks->owners(), process.pid);
        if (tsgs.empty())
            rows.push_back(row(context, *tasks, process, {}));
        for (const OwnedTsg &tsg : tsgs)
            rows.push_back(row(context, *tasks, process, tsg));
    }
    add_pod_names(context, rows);
    note_selection(context, !rows.empty());
    return Document{rows};
}

} // namespace

std::vector<Command> process_commands() {
    return {
        {.object = "process",
         .verb = "list",
         .help = "processes that have the GPU open, and the TSGs that they made",
         .options = selection_options(),
         .columns = joined(
             head_columns(),
             {{"runlist", "runlist that holds the TSG; null: none does now, or not known", "uint?"},
              {"tsg", "id of the TSG; null: no list holds it now, or not known", "uint?"},
              {"timeslice_us",
               "timeslice of the TSG in microseconds: as the list has it, or as it has what the "
               "driver was asked for; null: no TSG is known of this process",
               "number?"},
              {"asked_us",
               "what the driver was asked for: its microseconds have 1,024 ns; null: no TSG is "
               "known of this process",
               "number?", false},
              {"channels", "how many channels the process made in the TSG; null: none is known",
               "uint?"},
              {"client", "the driver's name of the process' client; null: none is known", "address",
               false},
              {"client_tsg", "the client's name of the TSG, no hardware id; null: none is known",
               "address", false}}),
         .data = "TSGs by process, the oldest process first; a process of which none is known has "
                 "one row",
         .notes = {"Known through NVIDIA's driver alone (--from driver), and in captures made so. "
                   "Root sees "
                   "every process; others see their own, without runlist and id of the TSGs.",
                   "A process without TSG has none on this GPU, or names its objects in a way that "
                   "is not known (seen with CUDA only)."},
         .examples = {{"sudo nvdebugctl --from driver process list", "the processes on this GPU"},
                      {"nvdebugctl --from driver process list --csv --columns pid,timeslice_us",
                       "timeslices of your own tasks, for a script"}},
         .check = check_selection_options,
         .run = list_processes},
    };
}

} // namespace nvdebugctl
