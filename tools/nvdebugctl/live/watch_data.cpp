// SPDX-License-Identifier: MIT OR GPL-2.0
#include "watch_data.hpp"

#include "cli/json.hpp"
#include "cli/page.hpp"

namespace nvdebugctl {

namespace {

Json residency_json(const std::optional<EngineResidency> &residency,
                    const std::optional<std::uint32_t> &runlist, const TaskOwners &owners) {
    if (!residency)
        return nullptr;
    Json parts = Json::array();
    for (const EngineResidency::Part &part : residency->parts)
        parts.push_back({{"who", occupant(part.who)},
                         {"processes", processes(owners.of(runlist, part.who))},
                         {"resident_percent", percent(part.part)}});
    return parts;
}

Json engine_json(const nvdebug::EngineState &engine, const Residency &residency,
                 const TaskOwners &owners) {
    auto estimate = residency.of(engine.engine);
    return {{"engine", engine.engine},
            {"runlist", or_null(engine.runlist)},
            {"status", or_null(engine.status)},
            {"current", occupant(engine.current)},
            {"processes", processes(owners.of(engine.runlist, engine.current))},
            {"next", occupant(engine.next)},
            {"channels", engine.channels},
            {"busy", or_null(engine.busy)},
            {"faulted", or_null(engine.faulted)},
            {"busy_percent", percent(estimate ? estimate->busy : std::nullopt)},
            {"residency", residency_json(estimate, engine.runlist, owners)}};
}

Json list_json(std::uint32_t id, const nvdebug::Result<nvdebug::Runlist> &list) {
    if (!list)
        return {{"runlist", id},       {"tsgs", nullptr},
                {"channels", nullptr}, {"enabled", nullptr},
                {"busy", nullptr},     {"pending", nullptr},
                {"torn", nullptr},     {"error", error_to_json(list.error())}};
    ListSummary summary = summarize(*list);
    return {{"runlist", id},
            {"tsgs", summary.tsgs},
            {"channels", summary.channels},
            {"enabled", summary.enabled},
            {"busy", summary.busy},
            {"pending", list->pending},
            {"torn", list->torn},
            {"error", nullptr}};
}

} // namespace

Json watch_json(const Sample &sample, const Residency &residency,
                std::chrono::milliseconds period) {
    Json engines, lists = Json::array();
    if (sample.engines) {
        engines = Json::array();
        for (const nvdebug::EngineState &engine : *sample.engines)
            engines.push_back(engine_json(engine, residency, sample.owners));
    }
    for (const auto &[id, list] : sample.lists)
        lists.push_back(list_json(id, list));
    return {{"time", sample.time},           {"sample", sample.number},
            {"period_ms", period.count()},   {"window_samples", residency.samples()},
            {"engines", std::move(engines)}, {"runlists_sample", sample.lists_number},
            {"runlists", std::move(lists)}};
}

Json watch_rows(const Json &data) {
    Json rows = Json::array();
    for (const Json &engine : data["engines"]) {
        Json row = {{"time", data["time"]}, {"sample", data["sample"]}};
        for (const char *key : {"engine", "runlist", "status", "current", "processes", "next",
                                "busy", "faulted", "busy_percent"})
            row[key] = engine[key];
        const bool known = !engine["residency"].is_null();
        row["who"] = row["resident_percent"] = known ? Json::array() : Json();
        for (const Json &part : engine["residency"])
            for (const char *key : {"who", "resident_percent"})
                row[key].push_back(part[key]);
        rows.push_back(std::move(row));
    }
    return rows;
}

std::string RowWriter::text(const Json &rows) {
    const bool header = std::exchange(form_.header, false);
    if (form_.csv)
        return to_csv(rows, form_.columns, header);
    Page page(form_.color);
    print_table(rows, form_.columns, header, page, &widths_, form_.known);
    return page.text();
}

} // namespace nvdebugctl
