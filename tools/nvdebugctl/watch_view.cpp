// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

#include "text.hpp"
#include "watch.hpp"

namespace nvdebugctl {

Sampler::Sampler(nvdebug::Gpu gpu, std::uint64_t list_pace)
    : gpu_(std::move(gpu)), list_pace_(list_pace) {}

Sample Sampler::take() {
    if (taken_++ % list_pace_ == 0)
        read_lists();
    return {taken_, format_utc(std::chrono::system_clock::now()), gpu_.engine_states(), lists_,
            lists_number_};
}

void Sampler::read_lists() {
    lists_number_ = taken_;
    lists_.clear();
    auto info = gpu_.info();
    if (!info)
        return;
    for (std::uint32_t id : info->runlists)
        lists_.emplace(id, gpu_.runlist(id, nvdebug::Detail::brief));
}

std::vector<nvdebug::Error> errors_of(const Sample &sample) {
    std::vector<nvdebug::Error> errors;
    if (!sample.engines)
        errors.push_back(sample.engines.error());
    for (const auto &[id, list] : sample.lists)
        if (!list)
            errors.push_back(list.error());
    return errors;
}

Residency::Residency(std::size_t window) : window_(window) {}

void Residency::add(const Sample &sample) {
    if (!sample.engines)
        return;
    auto &latest = seen_.emplace_back();
    for (const nvdebug::EngineState &engine : *sample.engines)
        if (engine.status.value_or("unreadable") != "unreadable")
            latest[engine.engine] = {engine.current, engine.busy};
    if (seen_.size() > window_)
        seen_.pop_front();
}

std::optional<EngineResidency> Residency::of(const std::string &engine) const {
    std::size_t told = 0, told_busy = 0, busy = 0;
    std::map<std::pair<nvdebug::Occupant::Kind, std::uint32_t>, std::size_t> count;
    for (const auto &sample : seen_) {
        auto found = sample.find(engine);
        if (found == sample.end())
            continue;
        ++told;
        if (const auto &who = found->second.who)
            ++count[{who->kind, who->id}];
        told_busy += found->second.busy.has_value();
        busy += found->second.busy.value_or(false);
    }
    if (told < 2)
        return std::nullopt;
    EngineResidency result;
    for (const auto &[who, times] : count)
        result.parts.push_back(
            {{who.first, who.second}, static_cast<double>(times) / static_cast<double>(told)});
    std::ranges::stable_sort(result.parts, std::greater{}, &EngineResidency::Part::part);
    if (told_busy > 0)
        result.busy = static_cast<double>(busy) / static_cast<double>(told_busy);
    return result;
}

ListSummary summarize(const nvdebug::Runlist &list) {
    ListSummary summary{};
    summary.tsgs = nvdebug::tsgs_of(list).size();
    for (const nvdebug::ListedChannel &listed : nvdebug::channels_of(list)) {
        ++summary.channels;
        summary.enabled += listed.channel->enabled.value_or(false);
        summary.busy += listed.channel->busy.value_or(false);
    }
    return summary;
}

namespace {

constexpr std::array<const char *, 3> order_names = {"device table", "busiest first", "name"};

struct Row {
    std::optional<std::uint32_t> runlist;
    std::vector<std::string> engines;
    std::set<std::string> status, now, next;
    std::optional<bool> busy;
    std::optional<double> busy_part;
    std::string residents;
};

std::string residents_of(const std::optional<EngineResidency> &residency) {
    if (!residency)
        return "-";
    std::vector<std::string> parts;
    for (const EngineResidency::Part &part : residency->parts)
        parts.push_back(fmt::format("{} {:.0f}%", name_of(part.who), part.part * 100));
    return parts.empty() ? "nobody" : fmt::format("{}", fmt::join(parts, ", "));
}

Row row_of(const nvdebug::EngineState &engine, const Residency &residency) {
    auto estimate = residency.of(engine.engine);
    Row row{engine.runlist, {engine.engine}, {}, {}, {}, engine.busy, {}, residents_of(estimate)};
    if (engine.status)
        row.status.insert(*engine.status == "invalid" ? "idle" : *engine.status);
    if (engine.current)
        row.now.insert(name_of(*engine.current));
    if (engine.next)
        row.next.insert(name_of(*engine.next));
    if (estimate)
        row.busy_part = estimate->busy;
    return row;
}

/** The engines of a runlist as one: busy if one is, and as busy as the busiest. */
void fold_into(Row &row, const Row &other) {
    row.engines.insert(row.engines.end(), other.engines.begin(), other.engines.end());
    row.status.insert(other.status.begin(), other.status.end());
    row.now.insert(other.now.begin(), other.now.end());
    row.next.insert(other.next.begin(), other.next.end());
    if (other.busy)
        row.busy = row.busy.value_or(false) || *other.busy;
    if (other.busy_part)
        row.busy_part = std::max(row.busy_part.value_or(0), *other.busy_part);
    if (row.residents == "-" || row.residents == "nobody")
        row.residents = other.residents;
    else if (other.residents != "-" && other.residents != "nobody")
        row.residents += fmt::format("; {}: {}", other.engines.front(), other.residents);
}

std::vector<Row> rows_of(const Shown &shown, const ViewSettings &settings) {
    std::vector<Row> rows;
    for (const nvdebug::EngineState &engine : *shown.sample.engines) {
        Row row = row_of(engine, shown.residency);
        auto same = std::ranges::find_if(rows, [&](const Row &other) {
            return settings.folded && other.runlist == row.runlist;
        });
        if (same == rows.end())
            rows.push_back(std::move(row));
        else
            fold_into(*same, row);
    }
    if (settings.order == ViewSettings::Order::busy)
        std::ranges::stable_sort(rows, std::greater{}, [](const Row &row) {
            return std::pair(row.busy_part.value_or(0), row.busy.value_or(false));
        });
    else if (settings.order == ViewSettings::Order::name)
        std::ranges::stable_sort(rows, {}, [](const Row &row) { return row.engines.front(); });
    return rows;
}

std::string joined(const std::set<std::string> &words) {
    return words.empty() ? "-" : fmt::format("{}", fmt::join(words, ","));
}

std::string text_of(const Row &row) {
    std::string busy = row.busy ? (*row.busy ? "yes" : "no") : "-";
    std::string part = row.busy_part ? fmt::format("{:.0f}%", *row.busy_part * 100) : "-";
    return fmt::format("{:>7} {:<20} {:<14} {:<10} {:<10} {:>4} {:>5}  {}",
                       row.runlist ? std::to_string(*row.runlist) : "-",
                       fmt::format("{}", fmt::join(row.engines, ",")), joined(row.status),
                       joined(row.now), joined(row.next), busy, part, row.residents);
}

void add_engines(std::vector<ViewLine> &lines, const Shown &shown, const ViewSettings &settings) {
    lines.push_back({fmt::format("{:>7} {:<20} {:<14} {:<10} {:<10} {:>4} {:>5}  {}", "RUNLIST",
                                 settings.folded ? "ENGINES" : "ENGINE", "STATUS", "NOW", "NEXT",
                                 "BUSY", "BUSY%", "RESIDENT"),
                     ViewLine::Ink::bold});
    for (const Row &row : rows_of(shown, settings))
        lines.push_back(
            {text_of(row), row.now.empty() ? ViewLine::Ink::dim : ViewLine::Ink::plain});
}

void add_lists(std::vector<ViewLine> &lines, const Sample &sample) {
    lines.push_back(
        {fmt::format("Runlists, as of sample {} (empty ones left out)", sample.lists_number),
         ViewLine::Ink::bold});
    for (const auto &[id, list] : sample.lists) {
        if (!list || list->entries == 0)
            continue;
        ListSummary summary = summarize(*list);
        lines.push_back(
            {fmt::format("{:>7} {}, {}: {} enabled, {} busy{}{}", id, count_of(summary.tsgs, "TSG"),
                         count_of(summary.channels, "channel"), summary.enabled, summary.busy,
                         list->pending ? "; pending" : "", list->torn ? "; torn" : "")});
    }
}

void add_help(std::vector<ViewLine> &lines) {
    for (const char *text :
         {"q  quit", "h  this help, or back", "e  fold the engines of a runlist into one line",
          "s  next order of the lines", "space  hold still, or go on", "",
          "RESIDENT tells in how many of the last samples each TSG or channel was on the engine,",
          "and BUSY% in how many the engine was busy. Both are estimates: what happens between",
          "two samples is not seen. '-' is what cannot be told, or not yet."})
        lines.push_back({text});
}

std::string span_of(const Shown &shown) {
    auto samples = shown.residency.samples();
    double seconds = static_cast<double>(samples) * static_cast<double>(shown.period.count()) / 1e3;
    return fmt::format("{}, one every {} ms ({:.1f} s)", count_of(samples, "sample"),
                       shown.period.count(), seconds);
}

} // namespace

void ViewSettings::cycle_order() {
    order = static_cast<Order>((static_cast<std::size_t>(order) + 1) % order_names.size());
}

std::vector<ViewLine> view_lines(const Shown &shown, const ViewSettings &settings) {
    std::vector<ViewLine> lines;
    lines.push_back({fmt::format("nvdebugctl watch  {}  {}{}", shown.gpu, shown.sample.time,
                                 settings.paused ? "  PAUSED" : ""),
                     ViewLine::Ink::bold});
    lines.push_back(
        {fmt::format("Percentages estimated from {}; {}", span_of(shown), shown.source)});
    lines.push_back({""});
    if (settings.help) {
        add_help(lines);
    } else {
        if (shown.sample.engines)
            add_engines(lines, shown, settings);
        lines.push_back({""});
        add_lists(lines, shown.sample);
        for (const nvdebug::Error &error : errors_of(shown.sample))
            lines.push_back({"Could not be read: " + error.sentence, ViewLine::Ink::bold});
    }
    lines.push_back({""});
    lines.push_back({fmt::format("q quit  h help  e {}  s order: {}  space {}",
                                 settings.folded ? "unfold" : "fold",
                                 order_names[static_cast<std::size_t>(settings.order)],
                                 settings.paused ? "go on" : "pause"),
                     ViewLine::Ink::dim});
    return lines;
}

} // namespace nvdebugctl
