// SPDX-License-Identifier: MIT OR GPL-2.0
#include "chart.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <ranges>

#include "lib/drawing/svg.hpp"

namespace nvstgm {
namespace {

using namespace drawing;

/// Returns the stroke of the nth line. Lines differ by colour and dashes.
Stroke stroke_of(std::size_t n) {
    static constexpr const char *colors[] = {palette::blue,   palette::vermillion,
                                             palette::orange, palette::sky,
                                             palette::black,  palette::dark_grey};
    static constexpr const char *dashes[] = {nullptr, "6 3", "2 3", "8 3 2 3"};
    return {.color = colors[n % std::size(colors)],
            .width = 2,
            .dashes = dashes[n / std::size(colors) % 4]};
}

constexpr Box plot{70, 95, 560, 380};
constexpr double names_width = 250, name_height = 15;

double y_of(double part) {
    return plot.bottom() - part * plot.height;
}

/// The range of x in the picture.
struct Range {
    double least, most;

    double x_of(double x) const { return plot.x + (x - least) / (most - least) * plot.width; }
};

void draw_axes(Svg &svg, const Range &range, const std::vector<Dot> &dots,
               const std::string &axis) {
    std::vector<Segment> grid, marks;
    for (int percent = 0; percent <= 100; percent += 20) {
        const double y = y_of(percent / 100.0);
        grid.push_back({plot.x, y, plot.right(), y});
        svg.text(plot.x - 8, y + 4, fmt::format("{} %", percent), {}, Anchor::end);
    }
    svg.lines(grid, {.color = palette::grey});
    for (const Dot &dot : dots) {
        const double x = range.x_of(dot.x);
        marks.push_back({x, plot.bottom(), x, plot.bottom() + 5});
        svg.text(x, plot.bottom() + 20, fmt::format("{:g}", dot.x), {}, Anchor::middle);
    }
    svg.text(plot.x + plot.width / 2, plot.bottom() + 40, axis, {}, Anchor::middle);
    marks.push_back({plot.x, plot.y, plot.x, plot.bottom()});
    marks.push_back({plot.x, plot.bottom(), plot.right(), plot.bottom()});
    svg.lines(marks);
}

/// A line with the height of its name.
struct NamedLine {
    std::size_t line;
    double height;
};

/// Returns the lines from top to bottom. Each name stands beside the end of its line, apart from
/// other names, and above the labels of the axis.
std::vector<NamedLine> place_names(const std::vector<Line> &lines) {
    std::vector<NamedLine> names;
    for (std::size_t n = 0; n < lines.size(); n++)
        names.push_back({n, y_of(lines[n].dots.back().y)});
    std::ranges::stable_sort(names, std::greater{},
                             [&](const NamedLine &name) { return lines[name.line].dots.back().y; });
    double lowest = plot.y;
    for (NamedLine &name : names) {
        name.height = std::max(lowest, name.height);
        lowest = name.height + name_height;
    }
    double highest = plot.bottom();
    for (NamedLine &name : names | std::views::reverse) {
        name.height = std::min(name.height, highest);
        highest = name.height - name_height;
    }
    return names;
}

void draw_line(Svg &svg, const Range &range, const Line &line, const Stroke &stroke, double y) {
    svg.open_group("curve", line.name);
    std::vector<Segment> thin, thick;
    for (std::size_t at = 0; at < line.dots.size(); at++) {
        const Dot &dot = line.dots[at];
        const double x = range.x_of(dot.x);
        thin.push_back({x, y_of(dot.low), x, y_of(dot.high)});
        if (at) {
            const Dot &before = line.dots[at - 1];
            thick.push_back({range.x_of(before.x), y_of(before.y), x, y_of(dot.y)});
        }
    }
    thin.push_back({plot.right(), y_of(line.dots.back().y), plot.right() + 12, y});
    thick.push_back({plot.right() + 12, y, plot.right() + 36, y});
    svg.lines(thin, {.color = stroke.color});
    svg.lines(thick, stroke);
    svg.text(plot.right() + 42, y + 4, line.name, {.size = 12});
    svg.close_group();
}

} // namespace

std::string chart(const std::string &title, const std::string &subtitle, const std::string &axis,
                  const std::vector<Line> &lines, const std::string &source) {
    Svg svg(plot.right() + names_width);
    const Caption caption{subtitle, source, "nvstgm " NVSTGM_VERSION ", figures"};
    svg.heading(title, caption);
    const std::vector<Dot> &dots = lines[0].dots;
    Range range{dots.front().x, dots.back().x};
    if (range.least == range.most)
        range.most++;
    draw_axes(svg, range, dots, axis);
    for (const auto &[n, height] : place_names(lines))
        draw_line(svg, range, lines[n], stroke_of(n), height);
    const double end = svg.footer(plot.bottom() + 55, caption);
    return svg.finish(end, title);
}

} // namespace nvstgm
