// SPDX-License-Identifier: MIT OR GPL-2.0
#include "recording.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "cli/json.hpp"
#include "nvdebug/control.hpp"
#include "lib/drawing/perfetto.hpp"
#include "cli/page.hpp"
#include "cli/text.hpp"

namespace nvdebugctl {

using nvdebug::Holder;
using nvdebug::Lengths;
using nvdebug::Tally;
using nvdebug::Turn;

// --- to several ---

void Tee::head(const RecordingHead &head) {
    for (Sink *const sink : sinks_)
        sink->head(head);
}

void Tee::clock(std::uint32_t gpu, const ClockReading &reading) {
    for (Sink *const sink : sinks_)
        sink->clock(gpu, reading);
}

void Tee::process(std::uint32_t gpu, const RecordedProcess &process) {
    for (Sink *const sink : sinks_)
        sink->process(gpu, process);
}

void Tee::turn(const Lane &lane, const Turn &turn, const RecordedProcess *process) {
    for (Sink *const sink : sinks_)
        sink->turn(lane, turn, process);
}

void Tee::lost(const Lane &lane, std::uint64_t ns, std::uint64_t count) {
    for (Sink *const sink : sinks_)
        sink->lost(lane, ns, count);
}

void Tee::mark(const Mark &mark) {
    for (Sink *const sink : sinks_)
        sink->mark(mark);
}

void Tee::end(const Lane &lane, const LaneEnd &end) {
    for (Sink *const sink : sinks_)
        sink->end(lane, end);
}

void Tee::end(const Json &summary) {
    for (Sink *const sink : sinks_)
        sink->end(summary);
}

// --- names ---

const std::vector<Form> &forms() {
    static const std::vector<Form> all = {
        {"perfetto", {".pftrace", ".perfetto-trace", ".pb"}, drawing::make_perfetto},
        {"ndjson", {".ndjson", ".jsonl"}, make_ndjson},
        {"csv", {".csv"}, make_csv},
        {"html", {".html", ".htm"}, make_html},
    };
    return all;
}

// --- what it adds up to ---

void Totals::process(std::uint32_t gpu, const RecordedProcess &process) {
    processes_.insert(gpu, process);
}

namespace {

/** Timeslice of the TSG that had the turn; empty for a turn that was found by samples. */
std::optional<std::uint64_t> timeslice_of(const Lane &lane, const Turn &turn,
                                          const RecordedProcess *process) {
    if (!process || lane.means == Lane::Means::samples)
        return std::nullopt;
    for (const RecordedProcess::Tsg &tsg : process->tsgs)
        if (tsg.runlist == turn.who.runlist && tsg.id == turn.who.tsg)
            return tsg.timeslice_ns;
    return std::nullopt;
}

} // namespace

void Totals::turn(const Lane &lane, const Turn &turn, const RecordedProcess *process) {
    const auto [at, fresh] = engines_.try_emplace(&lane);
    if (fresh)
        order_.push_back(&lane);
    Engine &engine = at->second;
    engine.tally.add(turn, timeslice_of(lane, turn, process));
    if (!engine.first_ns)
        engine.first_ns = turn.begin_ns;
    engine.last_ns = turn.end_ns;
    turns_++;
}

void Totals::lost(const Lane &lane, std::uint64_t, std::uint64_t count) {
    const auto [at, fresh] = engines_.try_emplace(&lane);
    if (fresh)
        order_.push_back(&lane);
    at->second.lost += count;
    at->second.tally.lose();
}

void Totals::end(const Lane &lane, const LaneEnd &end) {
    const auto [at, fresh] = engines_.try_emplace(&lane);
    if (fresh)
        order_.push_back(&lane);
    at->second.end = end;
}

namespace {

Json part_of(std::uint64_t ns, std::uint64_t whole_ns) {
    if (!whole_ns)
        return nullptr;
    return percent(std::min(1.0, static_cast<double>(ns) / static_cast<double>(whole_ns)));
}

Json length(const Lengths &lengths, std::uint64_t ns) {
    return lengths.count() ? microseconds(ns) : Json();
}

Json holder_json(const Holder &who, const Tally::Held &held, const RecordedProcess *process,
                 std::uint64_t whole_ns) {
    Json timeslices = Json::array(), tsgs = Json::array();
    if (process)
        for (const RecordedProcess::Tsg &tsg : process->tsgs) {
            tsgs.push_back(nvdebug::to_string(nvdebug::Target{tsg.runlist, tsg.id}));
            if (const Json us = tsg.timeslice_ns ? microseconds(*tsg.timeslice_ns) : Json();
                !us.is_null() && std::ranges::find(timeslices, us) == timeslices.end())
                timeslices.push_back(us);
        }
    if (!process && who.tsg && who.runlist)
        tsgs.push_back(nvdebug::to_string(nvdebug::Target{*who.runlist, *who.tsg}));
    return {{"name", name_of(who, process)},
            {"pid", or_null(who.pid)},
            {"process", process ? or_null(process->command) : Json()},
            {"container", process ? or_null(process->container) : Json()},
            {"cgroup", process ? or_null(process->cgroup) : Json()},
            {"tsgs", std::move(tsgs)},
            {"timeslice_us", std::move(timeslices)},
            {"share_percent", part_of(held.ns - held.saving_ns, whole_ns)},
            {"held_us", microseconds(held.ns)},
            {"saving_us", microseconds(held.saving_ns)},
            {"turns", held.turns},
            {"slice_min_us", length(held.lengths, held.lengths.min())},
            {"slice_median_us", length(held.lengths, held.lengths.quantile(0.5))},
            {"slice_p99_us", length(held.lengths, held.lengths.quantile(0.99))},
            {"slice_max_us", length(held.lengths, held.lengths.max())},
            {"away_median_us", length(held.away, held.away.quantile(0.5))},
            {"away_p99_us", length(held.away, held.away.quantile(0.99))},
            {"away_max_us", length(held.away, held.away.max())}};
}

} // namespace

Json Totals::summary(std::optional<double> cost) const {
    Json engines = Json::array();
    double longest = 0;
    std::vector<const Lane *> order = order_;
    std::ranges::stable_sort(order, {}, &Lane::gpu);
    for (const Lane *const lane : order) {
        const Engine &engine = engines_.at(lane);
        const bool sampled = lane->means == Lane::Means::samples;
        const std::optional<std::uint64_t> begin = engine.end.begin_ns ? engine.end.begin_ns
                                                                       : engine.first_ns,
                                           end = engine.end.end_ns ? engine.end.end_ns
                                                                   : engine.last_ns;
        const std::uint64_t recorded = begin && end && *end > *begin ? *end - *begin : 0;
        // Of what was sampled only what lies between samples is known.
        const std::uint64_t whole = sampled && engine.end.known_ns ? engine.end.known_ns : recorded;
        const Tally &tally = engine.tally;
        const std::uint64_t between = sampled ? 0 : tally.switches().sum();
        const std::uint64_t saving = tally.savings().sum();
        const std::uint64_t nobody =
            sampled ? whole - std::min(whole, tally.held_ns()) : tally.nobody_ns();
        const std::uint64_t known =
            sampled ? whole : std::min(whole, tally.held_ns() + between + nobody);
        longest = std::max(longest, static_cast<double>(recorded) / 1e9);
        std::vector<std::pair<std::uint64_t, Json>> rows;
        for (const auto &[who, held] : tally.holders()) {
            const RecordedProcess *const process = processes_.find(lane->gpu, who);
            rows.emplace_back(held.ns, holder_json(who, held, process, whole));
        }
        std::ranges::stable_sort(rows, std::greater{}, &std::pair<std::uint64_t, Json>::first);
        Json holders = Json::array();
        for (auto &[ns, row] : rows)
            holders.push_back(std::move(row));
        engines.push_back(
            {{"gpu", lane->gpu},
             {"engine", lane->engine},
             {"by", sampled ? "samples" : "switches"},
             {"recorded_us", microseconds(recorded)},
             {"held_percent", part_of(tally.held_ns() - saving, whole)},
             {"nobody_percent", part_of(nobody, whole)},
             {"switching_percent", sampled ? Json() : part_of(between + saving, whole)},
             {"unknown_percent", part_of(recorded - std::min(recorded, known), recorded)},
             {"switches", sampled ? Json() : Json(tally.switches().count())},
             {"switch_median_us",
              sampled ? Json() : length(tally.switches(), tally.switches().quantile(0.5))},
             {"switch_p99_us",
              sampled ? Json() : length(tally.switches(), tally.switches().quantile(0.99))},
             {"saving_median_us",
              sampled ? Json() : length(tally.savings(), tally.savings().quantile(0.5))},
             {"lost_switches", sampled ? Json() : Json(engine.lost)},
             {"samples", sampled ? Json(engine.end.samples) : Json()},
             {"missed_samples", sampled ? Json(engine.end.missed) : Json()},
             {"holders", std::move(holders)}});
    }
    return {{"time", head_.time},
            {"seconds", longest},
            {"period_us", head_.period_ns ? microseconds(head_.period_ns) : Json()},
            {"turns", turns_},
            {"marks", marks_},
            {"cost_percent", cost ? percent(cost) : Json()},
            {"engines", std::move(engines)}};
}

Json summary_rows(const Json &summary) {
    Json rows = Json::array();
    for (const Json &engine : summary["engines"])
        for (const Json &holder : engine["holders"]) {
            Json row = {{"gpu", engine["gpu"]}, {"engine", engine["engine"]}};
            row.update(holder);
            rows.push_back(std::move(row));
        }
    return rows;
}

namespace {

void show_engine(const Json &engine, Page &page) {
    const auto part = [&](const char *key) {
        return engine[key].is_null() ? std::string("?") : shown_percent(engine[key].get<double>());
    };
    std::string line =
        fmt::format("gpu{} {}: ", engine["gpu"].get<int>(), engine["engine"].get<std::string>());
    if (engine["by"] == "samples")
        line += fmt::format("{} busy, by {} samples", part("held_percent"),
                            engine["samples"].get<std::uint64_t>());
    else
        line += fmt::format(
            "{} held, {} switching ({} switches{}{}), {} nobody's", part("held_percent"),
            part("switching_percent"), engine["switches"].get<std::uint64_t>(),
            engine["switch_median_us"].is_null()
                ? std::string()
                : fmt::format(", median {}", shown("switch_median_us", engine["switch_median_us"])),
            engine["saving_median_us"].is_null()
                ? std::string()
                : fmt::format("; saving before, median {}",
                              shown("saving_median_us", engine["saving_median_us"])),
            part("nobody_percent"));
    page.line(page.bold(line));
    const std::uint64_t lost =
        engine["lost_switches"].is_null() ? 0 : engine["lost_switches"].get<std::uint64_t>();
    const std::uint64_t missed =
        engine["missed_samples"].is_null() ? 0 : engine["missed_samples"].get<std::uint64_t>();
    if (lost)
        page.line(page.warning(
            fmt::format("  {} records of switches were lost: the driver's buffer was full", lost)));
    if (missed)
        page.line(page.warning(fmt::format(
            "  {} samples were not taken in time: what was there meanwhile is not known", missed)));
    if (!engine["unknown_percent"].is_null() && engine["unknown_percent"].get<double>() > 0.1)
        page.line(fmt::format("  {} of the time is not known", part("unknown_percent")));
}

} // namespace

void show_summary(const Json &summary, Page &page) {
    std::string line = fmt::format("{:.3f} s recorded, {} turns", summary["seconds"].get<double>(),
                                   summary["turns"].get<std::uint64_t>());
    if (!summary["cost_percent"].is_null())
        line += fmt::format("; recording took {:.2f}% of a core",
                            summary["cost_percent"].get<double>());
    if (const auto marks = summary["marks"].get<std::uint64_t>())
        line += fmt::format("; {} of controls", count_of(marks, "mark"));
    page.line(line);
    std::size_t idle = 0;
    for (const Json &engine : summary["engines"]) {
        if (engine["holders"].empty() && engine["by"] == "samples" &&
            engine["samples"].get<std::uint64_t>()) {
            idle++;
            continue;
        }
        show_engine(engine, page);
        if (engine["holders"].empty())
            continue;
        print_table(engine["holders"],
                    {"name", "share_percent", "turns", "slice_min_us", "slice_median_us",
                     "slice_p99_us", "away_median_us", "away_p99_us", "timeslice_us", "tsgs"},
                    true, page);
    }
    if (idle)
        page.line(fmt::format("nobody was seen at work on {} more", count_of(idle, "engine")));
    if (!summary["period_us"].is_null())
        page.line(page.dim(fmt::format(
            "samples are {} apart: what is shorter may have been missed, and each end is "
            "wrong by up to half of that",
            shown("period_us", summary["period_us"]))));
}

namespace {

std::vector<Column> holder_columns() {
    return {
        {"name", "name and pid of the process, else what is known: TSG or channel", "string"},
        {"pid", "number of the process; 0: hidden from this user; null: not known", "uint?", false},
        {"process", "name of its command; null: not known", "string?", false},
        {"container", "id of the container that its cgroup names; null: none", "string?", false},
        {"cgroup", "its cgroup; null: not known", "string?", false},
        {"tsgs", "its TSGs, as RUNLIST:TSG; empty: not known", "[string]"},
        {"timeslice_us", "their timeslices, each once; empty: not known", "[number]"},
        {"share_percent", "part of the engine's time, without saving_us; null: nothing is known",
         "percent?"},
        {"held_us", "how long it had the engine", "number", false},
        {"saving_us",
         "of that, in which it was stopped and saved, its timeslice being over; 0 as well where "
         "the timeslice is not known",
         "number", false},
        {"turns", "how often", "uint"},
        {"slice_min_us", "shortest whole turn; null: none was seen to begin and to end", "number?"},
        {"slice_median_us", "median of whole turns, to 0.4 %", "number?"},
        {"slice_p99_us", "99 % of whole turns are not longer, to 0.4 %", "number?"},
        {"slice_max_us", "longest whole turn", "number?", false},
        {"away_median_us",
         "median of the time between its turns, in which it waited or had no work; null: it had "
         "one turn",
         "number?"},
        {"away_p99_us", "99 % of these are not longer", "number?"},
        {"away_max_us", "the longest of these", "number?", false},
    };
}

} // namespace

std::vector<Column> summary_columns() {
    std::vector<Column> columns = {{"gpu", "index of the GPU", "uint"},
                                   {"engine", "name of the engine", "string"}};
    for (Column &column : holder_columns())
        columns.push_back(std::move(column));
    return columns;
}

std::vector<Field> summary_fields() {
    return {
        {"time", "when it began, or for an interval of top, when it ended; ISO 8601 in UTC",
         "time"},
        {"seconds", "how long it is, by the GPU's clock", "number"},
        {"period_us", "between samples, as was asked for; null: there were none", "number?"},
        {"turns", "turns in all", "uint"},
        {"marks", "marks of controls", "uint"},
        {"cost_percent",
         "processor time that recording took once it had begun, of one core; null: not known",
         "number?"},
        {"engines",
         "engines, in the order in which they were first told",
         "[object]",
         {{"gpu", "index of the GPU", "uint"},
          {"engine", "name of the engine", "string"},
          {"by",
           "'switches': the driver's record; a process has the engine until another comes, also "
           "without work. 'samples': of its state; who was on it while it was busy",
           "switches|samples"},
          {"recorded_us", "how long it was recorded", "number"},
          {"held_percent", "in which somebody had it, without saving; null: nothing is known",
           "percent?"},
          {"nobody_percent", "in which nobody had it", "percent?"},
          {"switching_percent",
           "between the turns of two, and saving before; null: samples do not tell", "percent?"},
          {"unknown_percent", "of the recorded time: it is not known who had it", "percent?"},
          {"switches", "from one turn to the next; null: by samples", "uint?"},
          {"switch_median_us", "median of what a switch took; null: none, or by samples",
           "number?"},
          {"switch_p99_us", "99 % of the switches did not take longer", "number?"},
          {"saving_median_us",
           "median of saving_us of turns that ended with a timeslice; null: none, or by samples",
           "number?"},
          {"lost_switches",
           "records that the driver did not keep since its buffer was full; null: by samples",
           "uint?"},
          {"samples", "that were taken; null: by switches", "uint?"},
          {"missed_samples", "that were not taken in time, or failed; null: by switches", "uint?"},
          {"holders", "who had it, the longest first", "[object]", fields_of(holder_columns())}}}};
}

} // namespace nvdebugctl
