// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "caption.hpp"
#include "cli/text.hpp"
#include "state/tree.hpp"
#include "tree_picture.hpp"

namespace nvdebugctl {

using namespace drawing;

namespace {

constexpr double tree_width = 1080;
constexpr double name_x = margin + 16, share_end = 252, timeslice_end = 372;
constexpr double bar_x = 390, bar_end = 760, remark_x = 776;
constexpr double content_end = tree_width - margin - 10;
constexpr double row_height = 26, small_row = 17, bar_height = 16, engine_gap = 6;

const Font normal{.size = 13}, bold{.size = 13, .bold = true};
const Font small{.size = 11, .color = palette::dark_grey};

/// Returns the distance of ticks for a round: 1, 2 or 5 times a power of ten, so that there are 3
/// to 7 ticks.
double tick_of(double round_us) {
    double power = std::pow(10, std::floor(std::log10(round_us / 3)));
    for (double factor : {5.0, 2.0})
        if (round_us / (factor * power) >= 3)
            return factor * power;
    return power;
}

class TreeDrawing {
  public:
    TreeDrawing(const std::vector<RunlistView> &tree, const Caption &caption)
        : tree_(tree), caption_(caption) {}

    std::string draw() {
        static constexpr const char *title = "Runlists: one round of each";
        y_ = svg_.heading(title, caption_);
        for (const std::string &words :
             wrap("A bar is a TSG's turn in the round that Host makes while every enabled TSG "
                  "always has work; it is as long as the timeslice, and its part of the round is "
                  "the TSG's expected share of the runlist. Turns end early without work.",
                  small, tree_width - 2 * margin))
            svg_.text(margin, y_ += 16, words, small);
        y_ += 20;
        for (const RunlistView &runlist : tree_)
            if (!runlist.empty())
                draw(runlist);
        empty();
        legend();
        return svg_.finish(svg_.footer(y_ + 14, caption_), title);
    }

  private:
    void draw(const RunlistView &runlist) {
        svg_.open_group("panel", "");
        double top = y_;
        // The contents are drawn first, because only then the height of the frame is known.
        Svg inside(tree_width);
        std::swap(inside, svg_);
        y_ += 24;
        head(runlist);
        for (const std::string &remark : remarks_on(runlist))
            for (const std::string &words : wrap(remark, bold, content_end - name_x)) {
                svg_.text(name_x, y_ + 4, words, bold);
                y_ += row_height;
            }
        if (!runlist.tsgs.empty())
            axis(runlist);
        for (const Alike &alike : fold_alike(runlist))
            draw(runlist, alike);
        y_ += 4;
        std::swap(inside, svg_);
        svg_.rect({margin, top, tree_width - 2 * margin, y_ - top}, palette::white, {.width = 1.2},
                  5);
        svg_.append(inside);
        svg_.close_group();
        y_ += 18;
    }

    void head(const RunlistView &runlist) {
        const Font large{.size = 15, .bold = true};
        std::string name = fmt::format("Runlist {}", runlist.id);
        svg_.text(margin + 10, y_, name, large, Anchor::start, "runlist");
        double x = margin + 10 + text_width(name, large) + 16;
        engines(runlist, x);
        std::vector<std::string> facts;
        if (std::string scheduling = scheduling_of(runlist); !scheduling.empty())
            facts.push_back(scheduling);
        if (runlist.list)
            facts.push_back(size_of(runlist));
        if (runlist.round)
            facts.push_back(fmt::format("round {}", time_of(*runlist.round)));
        std::string words = fmt::format("{}", fmt::join(facts, ", "));
        y_ += row_height - 4;
        svg_.text(name_x, y_, fit(words, normal, content_end - name_x), normal);
        y_ += row_height - 2;
    }

    void engines(const RunlistView &runlist, double x) {
        const double start = x, height = 20;
        for (const std::string &engine : runlist.engines) {
            double width = width_of(engine);
            if (x + width > content_end) {
                x = start;
                y_ += height + 4;
            }
            svg_.rect({x, y_ - 15, width, height}, palette::grey, {}, 3);
            svg_.text(x + width / 2, y_, engine, normal, Anchor::middle, "engine");
            x += width + engine_gap;
        }
    }

    static double width_of(const std::string &engine) { return text_width(engine, normal) + 12; }

    static double width_of_engines(const RunlistView &runlist) {
        double width = 0;
        for (const std::string &engine : runlist.engines)
            width += width_of(engine) + engine_gap;
        return width;
    }

    /// Returns the length of the bars: the round, or the sum of the timeslices if shares are
    /// unknown.
    static std::uint64_t whole(const RunlistView &runlist) {
        std::uint64_t sum = 0;
        for (const TurnView &turn : runlist.turns)
            sum += turn.timeslice_ns;
        return sum;
    }

    void axis(const RunlistView &runlist) {
        svg_.text(name_x, y_, "TSG", small);
        svg_.text(share_end, y_, "share", small, Anchor::end);
        svg_.text(timeslice_end, y_, "timeslice", small, Anchor::end);
        double total_us = static_cast<double>(whole(runlist)) / 1000;
        if (total_us > 0) {
            double scale = (bar_end - bar_x) / total_us, step = tick_of(total_us);
            for (double at = 0; at <= total_us; at += step) {
                double x = bar_x + at * scale;
                svg_.text(x, y_, fmt::format("{:g}", at), small, Anchor::middle);
                svg_.line(x, y_ + 4, x, y_ + 9, {.color = palette::dark_grey});
            }
            svg_.text(remark_x, y_, "µs", small);
            svg_.line(bar_x, y_ + 9, bar_end, y_ + 9, {.color = palette::dark_grey});
        }
        y_ += row_height;
    }

    void draw(const RunlistView &runlist, const Alike &alike) {
        const TsgView &tsg = runlist.tsgs[alike.first];
        svg_.open_group("tsg", "");
        svg_.text(name_x, y_ + 4, fit(name_of(runlist, alike), bold, share_end - 50 - name_x), bold,
                  Anchor::start, "tsg");
        svg_.text(share_end, y_ + 4, share_of(tsg), normal, Anchor::end);
        if (tsg.timeslice_ns)
            svg_.text(timeslice_end, y_ + 4, time_of(*tsg.timeslice_ns), normal, Anchor::end);
        bars(runlist, alike);
        auto lines = wrap(remarks(tsg, alike.count), normal, content_end - remark_x);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            if (i > 0)
                y_ += small_row;
            svg_.text(remark_x, y_ + 4, lines[i], normal);
        }
        y_ += row_height - 6;
        if (alike.count > 1)
            line("each with an address space of its own", {channels_of(runlist, alike)});
        else
            for (const SpaceView &space : tsg.spaces)
                line(name_of(space), group_channels(space));
        y_ += 6;
        svg_.close_group();
    }

    void bars(const RunlistView &runlist, const Alike &alike) {
        const TsgView &tsg = runlist.tsgs[alike.first];
        bool active = tsg.active_on && !tsg.active_on->empty();
        bool shared = tsg.shared.value_or(false);
        double scale =
            (bar_end - bar_x) / static_cast<double>(std::max<std::uint64_t>(1, whole(runlist)));
        double at = bar_x, from = bar_x;
        // Turns of neighbours that share a line become one bar.
        const auto finish = [&] {
            if (at > from)
                svg_.rect({from, y_ - bar_height / 2, at - from, bar_height},
                          shared   ? pattern::hatched
                          : active ? palette::orange
                                   : palette::sky,
                          {.width = active ? 2.5 : 1});
        };
        for (const TurnView &turn : runlist.turns) {
            const double width = static_cast<double>(turn.timeslice_ns) * scale;
            const bool mine = turn.tsg >= alike.first && turn.tsg - alike.first < alike.count;
            if (!mine || alike.count == 1) {
                finish();
                from = at;
            }
            at += width;
            if (!mine)
                from = at;
        }
        finish();
    }

    static std::string remarks(const TsgView &tsg, std::size_t count) {
        std::vector<std::string> words;
        if (!tsg.processes.empty())
            words.push_back(processes_of(tsg));
        if (count > 1)
            words.push_back(fmt::format("{} TSGs, of which each has this share", count));
        if (tsg.active_on && !tsg.active_on->empty())
            words.push_back(fmt::format("on {} now", fmt::join(*tsg.active_on, ", ")));
        if (tsg.shared.value_or(false))
            words.push_back(
                fmt::format("shared by {} (MPS)", count_of(tsg.spaces.size(), "address space")));
        if (tsg.headers > 1)
            words.push_back(fmt::format("{} turns a round", tsg.headers));
        if (tsg.may_run == std::optional(false))
            words.push_back("disabled: gets no turn");
        if (tsg.truncated)
            words.push_back("truncated");
        return fmt::format("{}", fmt::join(words, "; "));
    }

    void line(const std::string &space, const std::vector<ChannelGroup> &channels) {
        std::vector<std::string> groups;
        for (const ChannelGroup &group : channels)
            groups.push_back(group.state.empty()
                                 ? name_of(group)
                                 : fmt::format("{} {}", name_of(group), group.state));
        std::string words = fmt::format("{}: {}", space, fmt::join(groups, "; "));
        svg_.text(name_x + 16, y_ + 2, fit(words, small, content_end - name_x - 16), small);
        y_ += small_row;
    }

    void empty() {
        bool any = false;
        // Each row takes as many runlists as fit, in columns.
        constexpr double label = 90, column = (content_end - margin) / 6;
        double x = margin;
        for (const RunlistView &runlist : tree_) {
            if (!runlist.empty())
                continue;
            double width = label + width_of_engines(runlist);
            if (!any)
                svg_.text(margin, y_ += 8, "Nothing is on these runlists:", bold);
            if (!any || x + width > content_end) {
                x = margin;
                y_ += row_height;
            }
            any = true;
            svg_.text(x, y_, fmt::format("Runlist {}", runlist.id), normal, Anchor::start,
                      "runlist");
            engines(runlist, x + label);
            x += column * std::ceil(width / column);
        }
        if (any)
            y_ += row_height;
        if (tree_.empty())
            svg_.text(margin, y_ += row_height, "No runlist could be read.", bold);
    }

    void legend() {
        double x = margin;
        const double y = y_ + 12;
        auto entry = [&](const char *fill, double stroke, const char *words) {
            svg_.rect({x, y - 8, 34, bar_height}, fill, {.width = stroke});
            svg_.text(x + 42, y + 5, words, normal);
            x += 42 + text_width(words, normal) + 24;
        };
        entry(palette::sky, 1, "a turn");
        entry(palette::orange, 2.5, "of the TSG that is on an engine now (thick line)");
        entry(pattern::hatched, 1, "of a TSG with several address spaces (MPS)");
        y_ = y + 20;
    }

    const std::vector<RunlistView> &tree_;
    const Caption &caption_;
    Svg svg_{tree_width};
    double y_ = 0;
};

} // namespace

std::string tree_svg(const std::vector<RunlistView> &tree, const Caption &caption) {
    return TreeDrawing(tree, caption).draw();
}

} // namespace nvdebugctl
