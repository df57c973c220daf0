// SPDX-License-Identifier: MIT OR GPL-2.0
#include "task_view.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "lib/base/printable.hpp"
#include "lib/base/quantity.hpp"
#include "lib/base/words.hpp"
#include "lib/partition/gate.hpp"
#include "lib/partition/text.hpp"
#include "map_file.hpp"
#include "messages.hpp"

namespace nvtaskset {

using nvdebug::base::counted;
using nvdebug::base::printable;

namespace {

using Json = nlohmann::ordered_json;

/// Returns the partition as JSON, or null if there is none.
Json json_of(const GpuMap &map, const ShownPartition &shown) {
    if (shown.setting.use != Use::partition)
        return nullptr;
    const Counts &counts = shown.slot->counts;
    return {{"tpcs", tpcs_of(map, shown.setting.partition)},
            {"sms", shown.setting.partition.sms},
            {"launches_kept", counts.kept.load()},
            {"launches_refused", counts.refused.load()},
            {"launches_with_large_clusters", counts.cluster.load()},
            {"launches_of_unknown_kind", counts.unknown.load()},
            {"graphs", counts.graphs.load()},
            {"graphs_with_older_partition", counts.old_graphs.load()}};
}

/// Returns the limit that holds now, the limits of the user and of the lease, and the counts.
Json json_of(const Gate &gate) {
    const std::uint64_t now = monotonic_us();
    const auto number = [](std::uint32_t limit) { return limit ? Json(limit) : Json(); };
    const std::uint32_t asked = leased(gate.lease, now);
    const char *const demand = asked == demand::hold    ? "hold"
                               : asked == demand::count ? "count"
                               : asked == demand::watch ? "watch"
                                                        : nullptr;
    return {{"limit", number(gate.limit)},
            {"leased_limit", number(leased_limit(gate.lease, now))},
            {"demand", demand ? Json(demand) : Json()},
            {"launches", gate.launched.load()},
            {"ended", gate.ended.load()},
            {"waited", gate.waited.load()},
            {"waited_ns", gate.waited_ns.load()},
            {"overdue", gate.overdue.load()},
            {"unlimited", gate.unlimited.load()}};
}

std::string describe(const Gate &gate) {
    const std::uint64_t now = monotonic_us();
    const std::uint32_t limit = in_flight_limit(gate, now);
    const bool is_leased = limit != gate.limit;
    const std::uint32_t asked = leased(gate.lease, now);
    std::string text = asked == demand::hold ? "launches are held (by nvqos)"
                       : limit ? "at most " + counted(limit, "launch", "launches") + " in flight" +
                                     (is_leased ? " (by nvqos)" : "")
                               : "no limit of launches in flight";
    text += ": of " + std::to_string(gate.launched) + ", " + std::to_string(gate.waited) +
            " waited, " + nvdebug::base::short_time(static_cast<std::int64_t>(gate.waited_ns), " ");
    if (const std::uint64_t overdue = gate.overdue)
        text += ", " + std::to_string(overdue) + " in vain";
    if (const std::uint64_t unlimited = gate.unlimited)
        text += ", " + std::to_string(unlimited) + " could not be limited";
    return text;
}

Json json_of(const std::vector<Process> &processes) {
    Json rows = Json::array();
    for (const Process &process : processes)
        rows.push_back({{"pid", process.pid},
                        {"command", process.command},
                        {"uses_gpu", process.uses_gpu},
                        {"kept", process.injected}});
    return rows;
}

/// Prints the document, with invalid UTF-8 replaced, as names of commands may be any bytes.
void print(const Json &document) {
    std::printf("%s\n", document.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
}

/// Returns the GPU with its TPCs and the tasks that have a partition there, or should.
Json json_of(const Gpu &gpu, const GpuMap &map, const std::vector<const Task *> &tasks) {
    Json tpcs = Json::array(), rows = Json::array();
    for (std::size_t n = 0; n < map.tpcs.size(); n++)
        tpcs.push_back({{"tpc", n},
                        {"gpc", map.tpcs[n].gpc},
                        {"bit", map.tpcs[n].bit},
                        {"sms", map.tpcs[n].sms}});
    for (const Task *task : tasks)
        if (const auto there = shown(*task, map.uuid))
            rows.push_back(
                {{"processes", json_of(task->processes)},
                 {"partition", json_of(map, *there)},
                 {"in_flight", there->gate ? json_of(*there->gate) : Json()},
                 {"launches_not_kept", unkept_launches(task->page->state(), there->slot)}});
    return {
        {"gpu", gpu.number},           {"name", gpu.name},        {"pci_address", gpu.pci_address},
        {"uuid", uuid_text(gpu.uuid)}, {"tpcs", std::move(tpcs)}, {"tasks", std::move(rows)}};
}

const char *state_of(const Process &process, bool has_partition) {
    if (!has_partition)
        return process.uses_gpu || process.injected
                   ? "uses the GPU; without a partition it may use all of it"
                   : "has not used CUDA yet";
    return process.injected   ? "kept to the partition"
           : process.uses_gpu ? "uses the GPU and is NOT kept to the partition"
                              : "has not used CUDA yet";
}

} // namespace

std::optional<ShownPartition> shown(const Task &task, const Uuid &uuid) {
    const Slot *const slot = task.page->find(uuid);
    const auto setting = slot ? read_setting(*slot) : std::nullopt;
    const Gate *gate = task.page->find_gate(uuid);
    if (gate && !gate->launched && !gate->limit && !leased(gate->lease, monotonic_us()))
        gate = nullptr;
    if (!setting || (setting->use != Use::partition && !slot->counts.outside && !gate))
        return std::nullopt;
    return ShownPartition{slot, *setting, gate};
}

std::string describe(const GpuMap &map, const State &state, const ShownPartition &shown) {
    const Setting &setting = shown.setting;
    const Counts &counts = shown.slot->counts;
    const bool has_partition = setting.use == Use::partition;
    std::string text = has_partition
                           ? "TPCs " + list_text(tpcs_of(map, setting.partition)) + " of 0-" +
                                 std::to_string(map.tpcs.size() - 1) + ", " +
                                 std::to_string(setting.partition.sms) + " SMs; " +
                                 counted(counts.kept, "launch", "launches") + " kept to them"
                           : "no partition on this GPU";
    const auto add = [&](std::uint64_t number, const char *what) {
        if (number)
            text += ", " + std::to_string(number) + " " + what;
    };
    add(counts.refused, "refused (too large to run at once)");
    add(counts.cluster, "NOT (clusters larger than the partition's GPCs)");
    add(counts.unknown, "NOT (of an unknown kind)");
    add(counts.outside,
        has_partition ? "NOT (before it had a partition here)" : "launches NOT kept");
    add(state.lost, "NOT (on a GPU that could not be identified)");
    if (counts.graphs)
        text += "; " + counted(counts.graphs, "CUDA graph", "CUDA graphs");
    add(counts.old_graphs, "of them with an older partition");
    return shown.gate ? text + "; " + describe(*shown.gate) : text;
}

std::string line_of(const Process &process, const State &state) {
    return "process " + std::to_string(process.pid) + " (" + printable(process.command) +
           "): " + state_of(process, has_partition(state));
}

Outcome<Maps> maps_of(const Options &options, Exit &exit) {
    auto gpus = Gpus::find();
    if (!gpus)
        return fail(gpus.error());
    const auto chosen = options.gpu ? select(*gpus, *options.gpu) : gpus->awake();
    if (!chosen)
        return fail(chosen.error());
    for (const std::string &sentence : chosen->left_out)
        note(options, sentence);
    Maps maps;
    std::vector<Refusal> failures;
    for (const Gpu &gpu : chosen->gpus) {
        auto map = map_of(gpu, options.probe);
        if (map)
            maps.emplace_back(gpu, std::move(*map));
        else
            failures.push_back(map.error());
        if (!map && chosen->gpus.size() > 1)
            say("GPU " + std::to_string(gpu.number) + ": " + map.error().sentence);
    }
    if (maps.empty() && !failures.empty())
        return fail(failures.front());
    exit = failures.empty() ? Exit::done : Exit::partial;
    return maps;
}

Exit print_json(const Maps &maps, const std::vector<const Task *> &tasks, Exit exit) {
    Json gpus = Json::array();
    for (const auto &[gpu, map] : maps)
        gpus.push_back(json_of(gpu, map, tasks));
    print({{"schema_version", "2.2"}, {"command", "nvtaskset"}, {"gpus", std::move(gpus)}});
    return written(exit);
}

} // namespace nvtaskset
