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

} // namespace

std::string chart(const std::string &title, const std::string &subtitle, const std::string &axis,
                  const std::vector<Line> &lines, const std::string &source) {
    const double width = plot.right() + names_width;
    Svg svg(width);
    const Caption caption{subtitle, source, "nvstgm " NVSTGM_VERSION ", figures"};
    svg.heading(title, caption);
    double least = lines[0].dots.front().x, most = lines[0].dots.back().x;
    if (least == most)
        most++;
    const auto x_of = [&](double x) { return plot.x + (x - least) / (most - least) * plot.width; };
    const auto y_of = [&](double part) { return plot.bottom() - part * plot.height; };
    std::vector<Segment> grid, marks;
    for (int percent = 0; percent <= 100; percent += 20) {
        const double y = y_of(percent / 100.0);
        grid.push_back({plot.x, y, plot.right(), y});
        svg.text(plot.x - 8, y + 4, fmt::format("{} %", percent), {}, Anchor::end);
    }
    svg.lines(grid, {.color = palette::grey});
    for (const Dot &dot : lines[0].dots) {
        marks.push_back({x_of(dot.x), plot.bottom(), x_of(dot.x), plot.bottom() + 5});
        svg.text(x_of(dot.x), plot.bottom() + 20, fmt::format("{:g}", dot.x), {}, Anchor::middle);
    }
    svg.text(plot.x + plot.width / 2, plot.bottom() + 40, axis, {}, Anchor::middle);
    marks.push_back({plot.x, plot.y, plot.x, plot.bottom()});
    marks.push_back({plot.x, plot.bottom(), plot.right(), plot.bottom()});
    svg.lines(marks);

    // Names beside the ends, apart from each other, and above the labels of the axis.
    std::vector<std::size_t> order(lines.size());
    for (std::size_t n = 0; n < order.size(); n++)
        order[n] = n;
    std::ranges::stable_sort(order, std::greater{},
                             [&](std::size_t n) { return lines[n].dots.back().y; });
    std::vector<double> heights;
    for (const std::size_t n : order)
        heights.push_back(std::max(heights.empty() ? plot.y : heights.back() + name_height,
                                   y_of(lines[n].dots.back().y)));
    double highest = plot.bottom();
    for (double &height : heights | std::views::reverse) {
        height = std::min(height, highest);
        highest = height - name_height;
    }
    for (std::size_t place = 0; place < order.size(); place++) {
        const std::size_t n = order[place];
        const Stroke stroke = stroke_of(n);
        svg.open_group("curve", lines[n].name);
        const std::vector<Dot> &dots = lines[n].dots;
        std::vector<Segment> thin, thick;
        for (std::size_t at = 0; at < dots.size(); at++) {
            const double x = x_of(dots[at].x);
            thin.push_back({x, y_of(dots[at].low), x, y_of(dots[at].high)});
            if (at)
                thick.push_back({x_of(dots[at - 1].x), y_of(dots[at - 1].y), x, y_of(dots[at].y)});
        }
        const double y = heights[place];
        thin.push_back({plot.right(), y_of(dots.back().y), plot.right() + 12, y});
        thick.push_back({plot.right() + 12, y, plot.right() + 36, y});
        svg.lines(thin, {.color = stroke.color});
        svg.lines(thick, stroke);
        svg.text(plot.right() + 42, y + 4, lines[n].name, {.size = 12});
        svg.close_group();
    }
    const double end = svg.footer(plot.bottom() + 55, caption);
    return svg.finish(end, title);
}

} // namespace nvstgm
