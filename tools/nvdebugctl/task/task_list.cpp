// SPDX-License-Identifier: MIT OR GPL-2.0
#include "task_list.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>

#include "cli/json.hpp"
#include "cli/text.hpp"
#include "select.hpp"
#include "state/left_over.hpp"
#include "state/state.hpp"
#include "state/tasks.hpp"
#include "state/tpcs.hpp"

namespace nvdebugctl {

namespace {

using nvdebug::OwnedTsg;
using nvdebug::OwnersOnLists;
using nvdebug::RunlistPlace;

/// Returns whether the process shares a TSG with another one; null: no list that may be read has
/// one of its TSGs.
Json is_shared(const OwnersOnLists &tasks, const std::vector<OwnedTsg> &tsgs) {
    const auto places = places_of(tasks, tsgs);
    if (places.empty())
        return nullptr;
    return std::ranges::any_of(places, [&](const RunlistPlace *place) {
        return place->tsg && tasks.sharers({place->runlist, *place->tsg}).size() > 1;
    });
}

/// Each process's part of GR0's time, by pid.
using Parts = std::map<std::uint32_t, double>;

/// Measures the parts for a second; empty: not known.
std::optional<Parts> parts_of_gr0(Context &context, const OwnersOnLists &tasks) {
    constexpr std::uint32_t second = 1000;
    if (context.gpu().tree().source() != nvdebug::Source::driver || tasks.owners().channels.empty())
        return std::nullopt;
    const auto record = context.gpu().context_switches(second);
    if (!record) {
        context.note("shares are not known: " + record.error().sentence);
        return std::nullopt;
    }
    if (record->dropped) {
        context.note(fmt::format("shares are not known: there were {} context switches more than "
                                 "are kept",
                                 record->dropped));
        return std::nullopt;
    }
    if (!record->switches.empty())
        return nvdebug::residency(*record);
    // There was no switch, so the present task was on the engine all the time.
    const auto states = EngineStates(context.gpu()).read();
    if (!states)
        return std::nullopt;
    Parts parts;
    for (const nvdebug::EngineState &state : *states)
        if (state.engine == "GR0" && state.runlist && state.current &&
            state.current->kind == nvdebug::Occupant::Kind::tsg)
            for (const std::uint32_t pid : tasks.sharers({*state.runlist, state.current->id}))
                parts[pid] = 1;
    return parts;
}

Json part_of(const std::optional<Parts> &parts, std::uint32_t pid) {
    if (!parts)
        return nullptr;
    const auto part = parts->find(pid);
    return percent(part == parts->end() ? 0.0 : std::min(part->second, 1.0));
}

Json row_of(const Context &context, const OwnersOnLists &tasks, const nvdebug::Process &process,
            const std::vector<OwnedTsg> &tsgs, const std::optional<EngineNames> &names,
            const std::optional<Parts> &parts) {
    Json listed, engines;
    for (const RunlistPlace *const place : places_of(tasks, tsgs))
        if (place->tsg) {
            listed.push_back(to_string(nvdebug::Target{place->runlist, *place->tsg}));
            const Json all = engines_of(names, place->runlist);
            if (!all.empty())
                engines.push_back(all.front());
        }
    std::size_t channels = 0;
    for (const OwnedTsg &tsg : tsgs)
        channels += tsg.size();
    Json row = head_of(context, process);
    row.update({{"tsgs", std::move(listed)},
                {"engines", std::move(engines)},
                {"channels", channels},
                {"timeslice_us", timeslices_of(tasks, tsgs)},
                {"share_percent", part_of(parts, process.pid)},
                {"mps", is_shared(tasks, tsgs)}});
    row.update(keeping_of(context, process.pid));
    return row;
}

Json tsg_row(const OwnersOnLists &tasks, const OwnedTsg &tsg,
             const std::optional<EngineNames> &names) {
    const RunlistPlace *const place = tasks.place_of(tsg);
    std::size_t known = 0, enabled = 0;
    for (const nvdebug::OwnedChannel *const channel : tsg)
        if (const RunlistPlace *const at = tasks.place_of(*channel)) {
            known += at->channel->enabled.has_value();
            enabled += at->channel->enabled.value_or(false);
        }
    return {{"runlist", place ? Json(place->runlist) : Json()},
            {"tsg", place ? or_null(place->tsg) : Json()},
            {"engines", place ? engines_of(names, place->runlist) : Json()},
            {"timeslice_us", timeslice_of(tasks, tsg)},
            {"channels", tsg.size()},
            {"enabled_channels", known ? Json(enabled) : Json()},
            {"client", hex(tsg.front()->client)},
            {"client_tsg", hex(tsg.front()->tsg)}};
}

std::optional<EngineNames> names_for(Context &context, const OwnersOnLists &tasks) {
    return tasks.any_listed() ? read_engine_names(context) : std::nullopt;
}

} // namespace

Outcome<Document> list_tasks(Context &context) {
    const auto tasks = read_tasks(context);
    if (!tasks)
        return tl::unexpected(tasks.error());
    const auto names = names_for(context, *tasks);
    const auto parts = parts_of_gr0(context, *tasks);
    Json rows = Json::array();
    const nvdebug::TaskSelection selection = selection_of(context);
    for (const nvdebug::Process &process : tasks->owners().processes)
        if (!selection.empty() && !nvdebug::is_selected(selection, process))
            continue;
        else if (const auto tsgs = nvdebug::tsgs_of(tasks->owners(), process.pid); !tsgs.empty())
            rows.push_back(row_of(context, *tasks, process, tsgs, names, parts));
    add_pod_names(context, rows);
    note_selection(context, !rows.empty());
    for (std::string &sentence : describe_left_over(context.gpu()))
        context.note(std::move(sentence));
    return Document{rows};
}

Outcome<Document> show_task(Context &context) {
    const std::uint32_t pid = *parse_id(context.words("PID").front());
    const auto tasks = read_tasks(context);
    if (!tasks)
        return tl::unexpected(tasks.error());
    const nvdebug::Owners &owners = tasks->owners();
    const auto process = std::ranges::find(owners.processes, pid, &nvdebug::Process::pid);
    const auto tsgs = nvdebug::tsgs_of(owners, pid);
    if (tsgs.empty() || process == owners.processes.end())
        return fail(nvdebug::ErrorCode::not_found,
                    fmt::format("process {} has no GPU context on {}; {}", pid,
                                context.gpu().folder(), nvdebug::describe_owners(owners)));
    const auto names = names_for(context, *tasks);
    Json rows = Json::array();
    for (const OwnedTsg &tsg : tsgs)
        rows.push_back(tsg_row(*tasks, tsg, names));
    const auto parts = parts_of_gr0(context, *tasks);
    Json heads = Json::array({head_of(context, *process)});
    add_pod_names(context, heads);
    Json data = heads.front();
    data.update({{"share_percent", part_of(parts, pid)}, {"mps", is_shared(*tasks, tsgs)}});
    data.update(keeping_of(context, pid));
    data["tsgs"] = std::move(rows);
    return Document{data};
}

void print_task(const Json &data, Page &page) {
    Json head = data;
    head.erase("tsgs");
    print_fields(head, page);
    page.line("");
    print_table(data["tsgs"],
                {"runlist", "tsg", "engines", "timeslice_us", "channels", "enabled_channels"}, true,
                page);
}

} // namespace nvdebugctl
