// SPDX-License-Identifier: MIT OR GPL-2.0
#include "top_view.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <functional>

#include "cli/json.hpp"
#include "cli/page.hpp"
#include "cli/text.hpp"
#include "recording/summary.hpp"

namespace nvdebugctl {
namespace {

using Ink = Piece::Ink;
using Lines = std::vector<ViewLine>;

constexpr std::array top_orders = {"engine", "share", "turns", "name"};

struct ShownColumn {
    const char *key, *title;
    bool right = true; ///< aligned to the right
};
/// On a narrow screen the last columns are left out first.
constexpr std::array view_columns = {ShownColumn{"engine", "ENGINE", false},
                                     ShownColumn{"name", "WHO", false},
                                     ShownColumn{"share_percent", "SHARE"},
                                     ShownColumn{"together_percent", "TOGETHER"},
                                     ShownColumn{"turns", "TURNS"},
                                     ShownColumn{"slice_median_us", "SLICE"},
                                     ShownColumn{"slice_p99_us", "99 %"},
                                     ShownColumn{"away_median_us", "AWAY"},
                                     ShownColumn{"timeslice_us", "TIMESLICE"},
                                     ShownColumn{"tsgs", "TSGS", false}};

std::vector<Json> sorted(const Json &all, TopView::Order order) {
    using Order = TopView::Order;
    std::vector<Json> rows(all.begin(), all.end());
    const auto number = [](const char *key) {
        return [key](const Json &row) { return row[key].is_null() ? 0.0 : row[key].get<double>(); };
    };
    if (order == Order::share)
        std::ranges::stable_sort(rows, std::greater{}, number("share_percent"));
    else if (order == Order::turns)
        std::ranges::stable_sort(rows, std::greater{}, number("turns"));
    else if (order == Order::name)
        std::ranges::stable_sort(rows, {},
                                 [](const Json &row) { return row["name"].get<std::string>(); });
    return rows;
}

/// Returns the header and a line for each row. Columns that do not fit as a whole are left out.
Lines table(const std::vector<Json> &rows, std::size_t width) {
    std::vector<ShownColumn> columns(view_columns.begin(), view_columns.end());
    if (!has_together(rows))
        std::erase_if(columns, [](const ShownColumn &column) {
            return std::string_view(column.key) == "together_percent";
        });
    std::vector<std::vector<std::string>> cells(rows.size() + 1);
    for (const ShownColumn &column : columns)
        cells[0].emplace_back(column.title);
    for (std::size_t n = 0; n < rows.size(); n++) {
        for (const ShownColumn &column : columns)
            cells[n + 1].push_back(shown(column.key, rows[n][column.key]));
        cells[n + 1][0] = fmt::format("gpu{} {}", rows[n]["gpu"].get<int>(), cells[n + 1][0]);
    }
    std::vector<std::string> lines(cells.size());
    for (std::size_t column = 0; column < columns.size(); column++) {
        std::size_t widest = 0;
        for (const auto &line : cells)
            widest = std::max(widest, line[column].size());
        // The column of the process is shown even if it has to be cut.
        if (column > 1 && lines[0].size() + widest > width)
            break;
        for (std::size_t n = 0; n < cells.size(); n++)
            lines[n] += columns[column].right ? fmt::format("{:>{}}  ", cells[n][column], widest)
                                              : fmt::format("{:<{}}  ", cells[n][column], widest);
    }
    Lines made;
    for (const std::string &line : lines)
        made.push_back(made.empty() ? heading(line, width) : ViewLine{{line}});
    return made;
}

/// Returns for each GPU a line with the shares of its GR0.
Lines gpus(const Json &summary) {
    Lines lines;
    for (const Json &engine : summary["engines"]) {
        if (engine["engine"] != "GR0")
            continue;
        std::string line = fmt::format("gpu{} GR0: ", engine["gpu"].get<int>());
        for (const Json &holder : engine["holders"])
            line += fmt::format("{}{} {}, ", holder["name"].get<std::string>(), shown_home(holder),
                                shown("share_percent", holder["share_percent"]));
        if (engine["by"] == "samples")
            line += shown("held_percent", engine["held_percent"]) + " busy";
        else
            line += fmt::format("{} switching, {} unused, {} switches",
                                shown("switching_percent", engine["switching_percent"]),
                                shown("nobody_percent", engine["nobody_percent"]),
                                engine["switches"].get<std::uint64_t>());
        if (!engine["lost_switches"].is_null())
            if (const auto lost = engine["lost_switches"].get<std::uint64_t>())
                line += fmt::format(" and {} lost", lost);
        lines.push_back({{printable(line)}});
    }
    return lines;
}

Lines top_help(std::size_t width) {
    static constexpr std::array keys = {
        std::pair{"q", "quit; so does Ctrl-C"}, std::pair{"h ?", "this help, or back"},
        std::pair{"arrows", "up or down; also PgUp, PgDn, Home, End"},
        std::pair{"space", "pause, or continue"},
        std::pair{"s", "next order: engine (by GPU and engine, the longest first), share, turns, "
                       "name"}};
    static constexpr std::array words = {
        "SHARE is the part of the engine's time in the interval, TURNS how often the task had it. "
        "SLICE and 99 % are the median and the 99th percentile of whole turns, AWAY is the median "
        "of the time between them.",
        "TOGETHER is of jobs on several GPUs: the part of their time there in which all ran them "
        "at "
        "once. The column is there while there is such a job.",
        "GR0 is recorded by the driver, switch by switch; other engines are sampled 10 times a "
        "second. '-' is not known, or that there was none.",
        "The first lines have the shares of GR0, a line for each GPU."};
    Lines lines;
    for (const auto &[key, does] : keys)
        add_wrapped(lines, fmt::format("{:<8}", key), does, width, Ink::plain);
    for (const char *text : words) {
        lines.emplace_back();
        add_wrapped(lines, "", text, width, Ink::plain);
    }
    return lines;
}

} // namespace

std::vector<ViewLine> TopView::lines(const Json &summary, const std::vector<std::string> &troubles,
                                     std::chrono::milliseconds interval, Size size) {
    Lines top{{{fmt::format("nvdebugctl top  {}{}, one every {} ms", paused_ ? "PAUSED  " : "",
                            summary["time"].get<std::string>(), interval.count()),
                Ink::bold}}};
    Lines body;
    if (help_) {
        body = top_help(size.columns);
    } else {
        const std::vector<Json> rows = sorted(summary_rows(summary), order_);
        Lines above = gpus(summary);
        for (const std::string &trouble : troubles)
            add_wrapped(above, "", trouble, size.columns, Ink::bold);
        body = table(rows, size.columns);
        if (rows.empty())
            body.push_back({{"Nobody had an engine.", Ink::dim}});
        // The GPUs' lines stay at the top as long as at least two thirds of the screen are left for
        // the tasks.
        if (above.size() * 3 <= size.rows) {
            std::ranges::move(above, std::back_inserter(top));
        } else {
            body.emplace_back();
            std::ranges::move(above, std::back_inserter(body));
        }
        top.push_back(std::move(body.front()));
        body.erase(body.begin());
    }
    const std::size_t count = body.size();
    const std::size_t room = size.rows > top.size() + 1 ? size.rows - top.size() - 1 : 0;
    const std::size_t wanted = top.size() + room;
    std::ranges::move(scroll_.cut(std::move(body), room), std::back_inserter(top));
    top.resize(wanted);
    std::string keys = "q quit  h help" + scroll_.where(count, room);
    if (!help_)
        keys += fmt::format("  space {}  s order: {}", paused_ ? "go on" : "pause",
                            top_orders[static_cast<std::size_t>(order_)]);
    top.push_back({{keys, Ink::dim}});
    fit(top, size);
    return top;
}

bool TopView::handle(int key) {
    switch (key) {
    case 'q':
    case 'Q':
        return true;
    case 'h':
    case '?':
        help_ = !help_;
        scroll_.to_top();
        break;
    case 's':
        order_ = static_cast<Order>((static_cast<std::size_t>(order_) + 1) % top_orders.size());
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
