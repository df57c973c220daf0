// SPDX-License-Identifier: MIT OR GPL-2.0
#include "watch_view.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>

#include "cli/page.hpp"
#include "cli/text.hpp"

namespace nvdebugctl {

namespace {

using Ink = Piece::Ink;
using Lines = std::vector<ViewLine>;

constexpr std::string_view gap = "  ";

// This part gives each resident a mark and a colour, which are the same in bar, history and list.

struct Mark {
    std::string text;
    Ink ink;
};

/// The marks of one engine. The four most frequent residents have marks of their own. They are
/// assigned by rising id, so that a change of rank alone does not change them.
class Marks {
  public:
    Marks(const std::vector<EngineResidency::Part> &parts, bool unicode) : unicode_(unicode) {
        for (const EngineResidency::Part &part : parts)
            if (marked_.size() < inks.size())
                marked_.push_back(part.who);
        std::ranges::sort(marked_, {},
                          [](const nvdebug::Occupant &who) { return std::pair(who.kind, who.id); });
    }

    Mark of(const nvdebug::Occupant &who) const {
        const auto found = std::ranges::find(marked_, who);
        if (found == marked_.end())
            return {unicode_ ? "▪" : "o", Ink::plain};
        const auto rank = static_cast<std::size_t>(found - marked_.begin());
        return {unicode_ ? blocks[rank] : letters[rank], inks[rank]};
    }

    /// Returns the order of bar and list: first the residents with marks of their own, by rising
    /// id, then the others by falling frequency.
    std::vector<EngineResidency::Part> ordered(std::vector<EngineResidency::Part> parts) const {
        std::ranges::stable_sort(parts, {}, [this](const EngineResidency::Part &part) {
            return std::ranges::find(marked_, part.who) - marked_.begin();
        });
        return parts;
    }

    /// Returns the mark of a sample in which the engine was idle. unreadable() is the mark of a
    /// sample in which the engine could not be read.
    Mark idle() const { return {unicode_ ? "·" : ".", Ink::dim}; }
    Mark unreadable() const { return {"?", Ink::dim}; }

  private:
    static constexpr std::array inks = {Ink::first, Ink::second, Ink::third, Ink::fourth};
    static constexpr std::array blocks = {"█", "▓", "▒", "░"};
    static constexpr std::array letters = {"#", "=", "+", "%"};
    std::vector<nvdebug::Occupant> marked_;
    bool unicode_;
};

void append(ViewLine &line, const Mark &mark) {
    if (line.empty() || line.back().ink != mark.ink)
        line.push_back({"", mark.ink});
    line.back().text += mark.text;
}

// This part makes the table of engines.

struct Row {
    const nvdebug::EngineState *engine;
    EngineResidency residency; ///< empty: not known, or not yet
    const TaskOwners *owners;

    bool is_public() const { return engine->status.has_value(); }
    bool is_readable() const { return is_public() && *engine->status != "unreadable"; }
    bool is_idle() const {
        return is_readable() && !engine->current && !engine->next &&
               !engine->busy.value_or(false) && !engine->faulted.value_or(false) &&
               residency.parts.empty();
    }
    /// Returns the part of the time for which the engine was occupied, for sorting. An engine may be
    /// busy in samples that do not show which TSG it has, and a TSG may stay on an idle engine, so
    /// the larger of the two parts counts.
    double occupied() const {
        double resident = 0;
        for (const EngineResidency::Part &part : residency.parts)
            resident += part.part;
        return std::max(resident, residency.busy.value_or(0));
    }
};

std::string now_of(const Row &row) {
    if (row.engine->current)
        return name_of(*row.engine->current);
    if (!row.is_readable())
        return "?";
    return row.engine->busy.value_or(false) ? "busy" : "idle";
}

std::string status_of(const nvdebug::EngineState &engine) {
    return engine.status == "invalid" ? "idle" : engine.status.value_or("-");
}

/// Returns the processes of a task of the engine's runlist, cut to the width of the column; empty:
/// not known.
std::string processes_of(const Row &row, const std::optional<nvdebug::Occupant> &task) {
    constexpr std::size_t most = 24;
    return cut_text(shown_processes(row.owners->of(row.engine->runlist, task)), most);
}

/// Returns for example `TSG 5 train[4711] 50%`.
std::string part_text(const Row &row, const EngineResidency::Part &part) {
    const std::string processes = processes_of(row, part.who);
    return fmt::format("{} {}{}{:.0f}%", name_of(part.who), processes, processes.empty() ? "" : " ",
                       part.part * 100);
}

struct Column {
    const char *title;
    bool right = false; ///< aligned to the right
    std::size_t width = 0;
};

struct At {
    enum : std::size_t {
        engine,
        list,
        now,
        process,
        share,
        resident,
        busy,
        history,
        status,
        next,
        end
    };
};
using Grid = std::array<Column, At::end>;

bool knows_processes(const std::vector<Row> &rows) {
    return std::ranges::any_of(
        rows, [](const Row &row) { return !processes_of(row, row.engine->current).empty(); });
}

/// Returns the widths of the columns of @p rows. Each of the steps below gives one column more of
/// the space that is left. So on a narrow screen, the columns of the first steps are kept longest.
Grid fit(const std::vector<Row> &rows, std::size_t window, std::size_t width) {
    Grid grid{{{"ENGINE"},
               {"RUNLIST", true},
               {"NOW"},
               {"PROCESS"},
               {"SHARE"},
               {"RESIDENT"},
               {"BUSY%", true},
               {"HISTORY", true},
               {"STATUS"},
               {"NEXT"}}};
    std::size_t engine_width = 6, name_width = 6, process_width = 0, resident_least = 0,
                resident_width = 0, status_width = 6;
    for (const Row &row : rows) {
        engine_width = std::max(engine_width, row.engine->engine.size());
        name_width = std::max(name_width, now_of(row).size());
        if (row.engine->next)
            name_width = std::max(name_width, name_of(*row.engine->next).size());
        status_width = std::max(status_width, status_of(*row.engine).size());
        // There is a column for processes only if a process is known.
        if (const std::size_t of_process = width_of(processes_of(row, row.engine->current)))
            process_width = std::max({process_width, of_process, std::size_t{7}});
        std::size_t together = 0;
        for (const EngineResidency::Part &part : row.residency.parts) {
            name_width = std::max(name_width, name_of(part.who).size());
            const std::size_t of_part = width_of(part_text(row, part)) + 2;
            resident_least = std::max(resident_least, of_part);
            together += of_part + (together > 0 ? gap.size() : 0);
        }
        resident_width = std::max(resident_width, std::min<std::size_t>(together, 80));
    }
    // The column is wide enough for two residents, so that a second resident does not move the
    // other columns.
    resident_least = std::max(resident_least, name_width + 7); // room for a mark and a percentage
    resident_width = std::max(resident_width, 2 * resident_least + gap.size());
    struct Step {
        std::size_t column, target;
    };
    const Step steps[] = {{At::engine, engine_width},
                          {At::list, 7},
                          {At::now, name_width},
                          {At::share, 12},
                          {At::resident, resident_least},
                          {At::process, process_width},
                          {At::resident, resident_width},
                          {At::busy, 5},
                          {At::history, 16},
                          {At::share, 24},
                          {At::status, status_width},
                          {At::next, name_width},
                          {At::history, window / 2},
                          {At::share, 40},
                          {At::history, window}};
    std::size_t left = width + gap.size();
    bool is_full = false; // once a column does not fit, no less important column takes its place
    for (const auto &[index, target] : steps) {
        Column &column = grid[index];
        if (target <= column.width)
            continue;
        std::size_t more = target - column.width;
        if (column.width == 0) {
            is_full = is_full || more + gap.size() > left;
            if (is_full)
                continue;
            left -= gap.size();
        }
        more = std::min(more, left);
        column.width += more;
        left -= more;
    }
    return grid;
}

/// Returns a bar, in which the length of each resident's part shows in which part of the last
/// samples it was on the engine.
ViewLine bar(const Row &row, const Marks &marks, std::size_t width) {
    ViewLine line{{"["}};
    const std::size_t room = width - 2;
    double sum = 0;
    std::size_t filled = 0;
    for (const EngineResidency::Part &part : marks.ordered(row.residency.parts)) {
        sum += part.part;
        const auto end = static_cast<std::size_t>(sum * static_cast<double>(room) + 0.5);
        for (; filled < std::min(end, room); ++filled)
            append(line, marks.of(part.who));
    }
    line.push_back({std::string(room - filled, ' ') + "]"});
    return line;
}

/// Returns a mark for each of the last samples, with the newest at the right.
ViewLine strip(const Row &row, const Marks &marks, const Residency &residency, std::size_t width) {
    std::vector<const Residency::Seen *> seen = residency.history(row.engine->engine);
    if (seen.size() > width)
        seen.erase(seen.begin(), seen.end() - static_cast<std::ptrdiff_t>(width));
    ViewLine line{{std::string(width - seen.size(), ' ')}};
    for (const Residency::Seen *const one : seen)
        append(line, !one ? marks.unreadable() : one->who ? marks.of(*one->who) : marks.idle());
    return line;
}

/// Lists the residents in at most @p most lines. If not all fit, the last line ends with the number
/// that is left out.
Lines residents(const Row &row, const Marks &marks, std::size_t width, std::size_t most) {
    if (!row.is_public())
        return {{{"not public on this chip", Ink::dim}}};
    if (!row.is_readable())
        return {{{"cannot be read", Ink::bold}}};
    Lines lines(1);
    std::size_t shown = 0;
    for (const EngineResidency::Part &part : marks.ordered(row.residency.parts)) {
        const Mark mark = marks.of(part.who);
        const std::string text = " " + part_text(row, part);
        const std::size_t needed =
            width_of(mark.text) + width_of(text) + (lines.back().empty() ? 0 : gap.size());
        if (!lines.back().empty() && width_of(lines.back()) + needed > width) {
            if (lines.size() == most)
                break;
            lines.emplace_back();
        }
        if (!lines.back().empty())
            lines.back().push_back({std::string(gap)});
        lines.back().push_back({mark.text, mark.ink});
        lines.back().push_back({text});
        ++shown;
    }
    if (const std::size_t rest = row.residency.parts.size() - shown)
        lines.push_back({{fmt::format("and {} more", rest), Ink::dim}});
    return lines;
}

/// Returns the cell of an engine in any column but that of the residents.
ViewLine cell(std::size_t column, const Row &row, const Marks &marks, const Residency &residency,
              std::size_t width) {
    const nvdebug::EngineState &engine = *row.engine;
    switch (column) {
    case At::engine:
        return {{engine.engine}};
    case At::list:
        return {{engine.runlist ? std::to_string(*engine.runlist) : "-"}};
    case At::now:
        return {{now_of(row), Ink::bold}};
    case At::process:
        return {{processes_of(row, engine.current)}};
    case At::share:
        return bar(row, marks, width);
    case At::busy:
        return {{row.residency.busy ? fmt::format("{:.0f}%", *row.residency.busy * 100) : "-"}};
    case At::history:
        return strip(row, marks, residency, width);
    case At::status:
        return {{status_of(engine)}};
    default:
        return {{engine.next ? name_of(*engine.next) : "-"}};
    }
}

void add_row(Lines &lines, const Row &row, const Grid &grid, const Residency &residency,
             bool unicode, std::size_t most) {
    const Marks marks(row.residency.parts, unicode);
    bool first = true;
    for (ViewLine &part : residents(row, marks, grid[At::resident].width, most)) {
        ViewLine line;
        std::size_t start = 0;
        for (std::size_t index = 0; index < grid.size(); ++index) {
            const Column &column = grid[index];
            if (column.width == 0)
                continue;
            ViewLine what;
            if (index == At::resident)
                what = std::move(part);
            else if (first)
                what = cell(index, row, marks, residency, column.width);
            const std::size_t width = width_of(what);
            pad(line, start + (column.right ? column.width - std::min(column.width, width) : 0));
            line.insert(line.end(), what.begin(), what.end());
            start += column.width + gap.size();
        }
        if (row.is_idle())
            for (Piece &piece : line)
                piece.ink = Ink::dim;
        lines.push_back(std::move(line));
        first = false;
        if (grid[At::resident].width == 0)
            break;
    }
}

std::string titles(const Grid &grid) {
    std::string line;
    for (const Column &column : grid)
        if (column.width > 0)
            line += fmt::format("{:{}}{}", "", line.empty() ? 0 : gap.size(),
                                column.right ? fmt::format("{:>{}}", column.title, column.width)
                                             : fmt::format("{:<{}}", column.title, column.width));
    return line;
}

void sort(std::vector<Row> &rows, WatchView::Order order) {
    if (order == WatchView::Order::busy)
        std::ranges::stable_sort(rows, std::greater{}, &Row::occupied);
    else if (order == WatchView::Order::name)
        std::ranges::stable_sort(rows, {}, [](const Row &row) { return row.engine->engine; });
}

// This part makes the table of runlists.

std::string engines_of(const Sample &sample, std::uint32_t list) {
    std::vector<std::string> names;
    if (sample.engines)
        for (const nvdebug::EngineState &each : *sample.engines)
            if (each.runlist == list)
                names.push_back(each.engine);
    return names.empty() ? "-" : fmt::format("{}", fmt::join(names, ", "));
}

void add_lists(Lines &lines, const Sample &sample, bool fold, std::size_t width) {
    lines.push_back(heading(fmt::format("RUNLIST  TSGS  CHANNELS  ENABLED  BUSY  ENGINES  (as of "
                                        "sample {})",
                                        sample.lists_number),
                            width));
    std::vector<std::uint32_t> empty;
    for (const auto &[id, list] : sample.lists) {
        if (!list) {
            add_wrapped(lines, fmt::format("{:>7}  ", id), "cannot be read", width, Ink::bold);
            continue;
        }
        if (list->entries == 0 && fold) {
            empty.push_back(id);
            continue;
        }
        const ListSummary sum = summarize(*list);
        add_wrapped(lines,
                    fmt::format("{:>7}  {:>4}  {:>8}  {:>7}  {:>4}  ", id, sum.tsgs, sum.channels,
                                sum.enabled, sum.busy),
                    fmt::format("{}{}{}", engines_of(sample, id), list->pending ? " (pending)" : "",
                                list->torn ? " (torn)" : ""),
                    width, list->entries == 0 ? Ink::dim : Ink::plain);
    }
    if (!empty.empty())
        add_wrapped(lines, " empty: ", fold_ids(empty), width, Ink::dim);
}

constexpr std::size_t most_lines_of_residents = 3;

/// The user's choices that decide how blocks look.
struct Style {
    bool unicode, fold, all_residents;
    WatchView::Order order;
    std::size_t width;
};

std::vector<Row> rows_of(const WatchedGpu &gpu) {
    std::vector<Row> rows;
    if (gpu.sample.engines)
        for (const nvdebug::EngineState &each : *gpu.sample.engines)
            rows.push_back({&each, gpu.residency.of(each.engine).value_or(EngineResidency{}),
                            &gpu.sample.owners});
    return rows;
}

/// Returns for example `idle: NVDEC0, NVENC0`.
void add_folded(Lines &lines, const char *what, const std::vector<Row> &rows, std::size_t width) {
    std::vector<std::string> names;
    for (const Row &row : rows)
        names.push_back(row.engine->engine);
    if (!names.empty())
        add_wrapped(lines, fmt::format(" {}: ", what), fmt::format("{}", fmt::join(names, ", ")),
                    width, Ink::dim);
}

void add_block(Lines &lines, const WatchedGpu &gpu, const Grid &grid, const Style &style) {
    lines.push_back({{cut_text(gpu.name, style.width), Ink::bold}});
    std::vector<Row> rows = rows_of(gpu), idle, not_public;
    sort(rows, style.order);
    if (!rows.empty())
        lines.push_back(heading(titles(grid), style.width));
    for (const Row &row : rows)
        if (style.fold && row.is_idle())
            idle.push_back(row);
        else if (style.fold && !row.is_public())
            not_public.push_back(row);
        else
            add_row(lines, row, grid, gpu.residency, style.unicode,
                    style.all_residents ? row.residency.parts.size() + 1 : most_lines_of_residents);
    add_folded(lines, "idle", idle, style.width);
    add_folded(lines, "not public on this chip", not_public, style.width);
    lines.emplace_back();
    if (!gpu.sample.lists.empty())
        add_lists(lines, gpu.sample, style.fold, style.width);
    for (const std::string &sentence : sentences_of(errors_of(gpu.sample)))
        add_wrapped(lines, "", printable(sentence), style.width, Ink::bold);
}

/// Returns the blocks of all GPUs.
/// @param left_out gets the number of columns for which there is no room
Lines blocks(const WatchedGpus &shown, const Style &style, std::size_t &left_out) {
    // All blocks have the same columns, so that they line up.
    std::vector<Row> all;
    for (const WatchedGpu &gpu : shown.gpus)
        std::ranges::copy(rows_of(gpu), std::back_inserter(all));
    const Grid grid = fit(all, shown.gpus.front().residency.window(), style.width);
    left_out = static_cast<std::size_t>(std::ranges::count(grid, std::size_t{0}, &Column::width)) -
               // Without known processes there is no column of processes.
               (knows_processes(all) ? 0 : 1);
    Lines lines;
    for (const WatchedGpu &gpu : shown.gpus) {
        if (!lines.empty())
            lines.emplace_back();
        add_block(lines, gpu, grid, style);
    }
    return lines;
}

Lines watch_help(std::size_t width) {
    static constexpr std::array keys = {
        std::pair{"q", "quit; so does Ctrl-C"},
        std::pair{"h ?", "this help, or back"},
        std::pair{"arrows", "up or down; also PgUp, PgDn, Home, End"},
        std::pair{"space", "pause, or continue"},
        std::pair{"s", "next order of the engines: device (as in the device table), busy, name"},
        std::pair{"i", "fold what is idle into one line, or unfold it; at first, it is folded "
                       "where not all fits"},
        std::pair{"a", "all residents of an engine, or those of three lines"}};
    static constexpr std::array words = {
        "NOW is the TSG or channel on the engine, PROCESS the one that made it, where NVIDIA's "
        "driver is the source. SHARE and RESIDENT show in how many of the last "
        "samples each was on it, and BUSY% in how many the engine was busy. HISTORY has a mark for "
        "each sample, the newest at the right: that of the resident, '.' for none, '?' for not "
        "known.",
        "All are estimates: what happens between two samples is not seen. '-' is not known, or "
        "not yet.",
        "Runlists are read every 5 s."};
    Lines lines;
    for (const auto &[key, does] : keys)
        add_wrapped(lines, fmt::format("{:<8}", key), does, width, Ink::plain);
    for (const char *text : words) {
        lines.emplace_back();
        add_wrapped(lines, "", text, width, Ink::plain);
    }
    return lines;
}

std::string title(const WatchedGpus &shown, bool paused) {
    const Sample &sample = shown.gpus.front().sample;
    std::size_t samples = 0;
    for (const WatchedGpu &gpu : shown.gpus)
        samples = std::max(samples, gpu.residency.samples());
    // Takes the time of day from `2026-01-31T12:00:00.250Z`.
    const std::string time = sample.time.size() > 19 ? sample.time.substr(11, 8) + "Z" : "";
    if (shown.still)
        return fmt::format("nvdebugctl watch  {}  one sample, of {}", time, shown.source);
    return fmt::format(
        "nvdebugctl watch  {}{}  {}, one every {} ms ({:.1f} s), {}", paused ? "PAUSED  " : "",
        time, count_of(samples, "sample"), shown.period.count(),
        static_cast<double>(samples) * static_cast<double>(shown.period.count()) / 1e3,
        shown.source);
}

constexpr std::array watch_orders = {"device", "busy", "name"};

} // namespace

std::vector<ViewLine> WatchView::body(const WatchedGpus &shown, Size room) {
    if (help_)
        return watch_help(room.columns);
    Style style{unicode_, fold_idle_.value_or(false), all_residents_, order_, room.columns};
    std::vector<ViewLine> lines = blocks(shown, style, left_out_);
    if (!fold_idle_ && lines.size() > room.rows) {
        style.fold = true;
        lines = blocks(shown, style, left_out_);
    }
    folds_idle_ = style.fold;
    return lines;
}

ViewLine WatchView::keys(std::size_t count, std::size_t room) const {
    std::string text = "q quit  h help";
    text += scroll_.where(count, room);
    if (!help_)
        text +=
            fmt::format("  space {}  s order: {}  i {}fold idle", paused_ ? "go on" : "pause",
                        watch_orders[static_cast<std::size_t>(order_)], folds_idle_ ? "un" : "");
    if (!help_ && left_out_)
        text += fmt::format("  {} {} not fit", count_of(left_out_, "column"),
                            left_out_ == 1 ? "does" : "do");
    return {{text, Ink::dim}};
}

std::vector<ViewLine> WatchView::lines(const WatchedGpus &shown, Size size) {
    const std::size_t room = size.rows > 2 ? size.rows - 2 : 0;
    std::vector<ViewLine> all = body(shown, {room, size.columns});
    const std::size_t count = all.size();
    std::vector<ViewLine> lines{{{title(shown, paused_), Ink::bold}}};
    std::ranges::move(scroll_.cut(std::move(all), room), std::back_inserter(lines));
    lines.resize(room + 1);
    lines.push_back(keys(count, room));
    fit(lines, size);
    return lines;
}

bool WatchView::handle(int key) {
    switch (key) {
    case 'q':
        return true;
    case 'h':
    case '?':
        help_ = !help_;
        scroll_.to_top();
        break;
    case 's':
        order_ = static_cast<Order>((static_cast<std::size_t>(order_) + 1) % watch_orders.size());
        break;
    case 'i':
        fold_idle_ = !folds_idle_;
        break;
    case 'a':
        all_residents_ = !all_residents_;
        break;
    case ' ':
        paused_ = !paused_;
        break;
    default:
        scroll_.handle(key);
    }
    return false;
}

} // namespace nvdebugctl
