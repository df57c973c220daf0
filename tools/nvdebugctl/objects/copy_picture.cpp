// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

#include "caption.hpp"
#include "cli/text.hpp"
#include "copy.hpp"

namespace nvdebugctl {

using namespace drawing;

namespace {

constexpr double slot = 46, gap = 14, box_height = 36;
constexpr double runlist_x = margin, runlist_width = 210;
constexpr double lce_x = 330, lce_width = 190;
constexpr double pce_x = 650, pce_width = 90;
constexpr double note_x = pce_x + pce_width + 30;
constexpr double picture_width = 1040;

const Stroke owned{.color = palette::blue, .width = 2, .arrow = true};
const Stroke borrowed{.color = palette::vermillion, .width = 2, .dashes = "7 4", .arrow = true};
const Stroke contended_edge{.color = palette::vermillion, .width = 3};
const Stroke no_pce{.dashes = "2 3"};

/// Writes two lines of text into a box, or one line into its middle.
void label(Svg &svg, const Box &box, const std::string &first, const std::string &second,
           std::string_view kind) {
    const Font name{.size = 14, .bold = true}, detail{.size = 11};
    double x = box.x + box.width / 2, room = box.width - 12;
    svg.text(x, box.middle() + (second.empty() ? 5 : -2), fit(first, name, room), name,
             Anchor::middle, kind);
    if (!second.empty())
        svg.text(x, box.middle() + 13, fit(second, detail, room), detail, Anchor::middle);
}

std::string what_it_uses(const WiredLce &lce) {
    std::vector<std::string> words;
    if (!lce.pces.empty())
        words.push_back(
            fmt::format("{} {}", lce.pces.size() == 1 ? "PCE" : "PCEs", fold_ids(lce.pces)));
    if (lce.lender)
        words.push_back(fmt::format("borrows from {}", *lce.lender));
    return words.empty() ? "no PCE: cannot copy" : fmt::format("{}", fmt::join(words, ", "));
}

std::string runlist_name(const WiredRunlist &runlist) {
    return runlist.id ? fmt::format("Runlist {}", *runlist.id) : "no runlist";
}

class CopyDrawing {
  public:
    CopyDrawing(const CopyWiring &wiring, const Caption &caption)
        : wiring_(wiring), caption_(caption) {}

    std::string draw() {
        static constexpr const char *title = "Copy engines: runlists, logical and physical engines";
        y_ = svg_.heading(title, caption_) + 20;
        headings();
        place();
        edges();
        boxes();
        if (wiring_.runlists.empty())
            note("This GPU has no logical copy engine.");
        unused();
        legend();
        return svg_.finish(svg_.footer(y_ + 14, caption_), title);
    }

  private:
    void headings() {
        const Font font{.size = 13, .color = palette::dark_grey};
        svg_.text(runlist_x, y_, "Runlists", font);
        svg_.text(lce_x, y_, "Logical (LCE, GRCE)", font);
        svg_.text(pce_x, y_, "Physical (PCE)", font);
        svg_.text(note_x, y_, "Contention (rule R8)", font);
        y_ += 14;
    }

    /// Places a row for each LCE, as high as the LCE's own PCEs need. Each PCE stands beside the
    /// LCE that owns it.
    void place() {
        for (const WiredRunlist &runlist : wiring_.runlists) {
            double top = y_;
            for (const WiredLce &lce : runlist.lces) {
                double height =
                    slot * static_cast<double>(std::max<std::size_t>(1, lce.pces.size()));
                lces_[lce.name] = {lce_x, y_ + (height - box_height) / 2, lce_width, box_height};
                double pce_y = y_ + (slot - box_height) / 2;
                for (std::uint32_t pce : lce.pces) {
                    pces_[pce] = {pce_x, pce_y, pce_width, box_height};
                    pce_y += slot;
                }
                y_ += height;
            }
            double inset = (slot - box_height) / 2;
            runlists_.push_back({runlist_x, top + inset, runlist_width, y_ - top - 2 * inset});
            y_ += gap;
        }
    }

    void edges() {
        for (std::size_t i = 0; i < wiring_.runlists.size(); ++i)
            for (const WiredLce &lce : wiring_.runlists[i].lces) {
                const Box &box = lces_.at(lce.name);
                svg_.line(runlists_[i].right(), box.middle(), box.x, box.middle(),
                          {.width = 1.5, .arrow = true});
                draw_edges(box, lce.pces, owned);
                draw_edges(box, lce.borrowed, borrowed);
            }
    }

    void draw_edges(const Box &from, const std::vector<std::uint32_t> &pces, const Stroke &stroke) {
        for (std::uint32_t pce : pces)
            if (auto to = pces_.find(pce); to != pces_.end())
                svg_.curve(from.right(), from.middle(), to->second.x, to->second.middle(), stroke);
    }

    void boxes() {
        for (std::size_t i = 0; i < wiring_.runlists.size(); ++i) {
            const WiredRunlist &runlist = wiring_.runlists[i];
            svg_.open_group("runlist", "");
            svg_.rect(runlists_[i], palette::grey, {.width = 1.5}, 4);
            label(svg_, runlists_[i], runlist_name(runlist),
                  runlist.other_engines.empty()
                      ? ""
                      : fmt::format("also {}", fmt::join(runlist.other_engines, ", ")),
                  "runlist");
            svg_.close_group();
            for (const WiredLce &lce : runlist.lces)
                draw(lce);
        }
        for (const WiredPce &pce : wiring_.pces)
            if (auto box = pces_.find(pce.pce); box != pces_.end())
                draw(pce, box->second);
    }

    void draw(const WiredLce &lce) {
        const Box &box = lces_.at(lce.name);
        svg_.open_group("lce", "");
        bool idle = lce.pces.empty() && !lce.lender;
        svg_.rect(box, palette::white, idle ? no_pce : Stroke{.width = 1.5},
                  lce.graphics_name.empty() ? 4 : box.height / 2);
        label(svg_, box,
              lce.graphics_name.empty() ? lce.name
                                        : fmt::format("{} ({})", lce.name, lce.graphics_name),
              what_it_uses(lce), "lce");
        svg_.close_group();
    }

    void draw(const WiredPce &pce, const Box &box) {
        bool contended = !pce.contenders.empty();
        svg_.open_group("pce", "");
        svg_.rect(box, contended ? pattern::hatched : palette::white,
                  contended ? contended_edge : Stroke{.width = 1.5}, 4);
        // A white ground keeps the name readable on the pattern.
        svg_.rect({box.x + 14, box.y + 8, box.width - 28, box.height - 16}, palette::white,
                  {.color = palette::white, .width = 0}, 2);
        label(svg_, box, fmt::format("PCE {}", pce.pce), "", "pce");
        svg_.close_group();
        if (!contended)
            return;
        const Font font{.size = 12};
        auto lines = wrap(fmt::format("{} contend", fmt::join(pce.contenders, ", ")), font,
                          picture_width - margin - note_x);
        double y = box.middle() + 4 - 7 * static_cast<double>(lines.size() - 1);
        for (const std::string &words : lines) {
            svg_.text(note_x, y, words, font, Anchor::start, "contention");
            y += 14;
        }
    }

    void unused() {
        if (wiring_.unused.empty())
            return;
        note(fmt::format("{} no LCE:",
                         wiring_.unused.size() == 1 ? "This PCE serves" : "These PCEs serve"));
        const double step = 76, height = 26;
        double x = runlist_x;
        for (std::uint32_t pce : wiring_.unused) {
            if (x + step > picture_width - margin) {
                x = runlist_x;
                y_ += height + 8;
            }
            Box box{x, y_, step - 8, height};
            svg_.open_group("pce", "");
            svg_.rect(box, palette::white, no_pce, 4);
            svg_.text(box.x + box.width / 2, box.middle() + 4, fmt::format("PCE {}", pce),
                      {.size = 12}, Anchor::middle, "pce");
            svg_.close_group();
            x += step;
        }
        y_ += height + 18;
    }

    void note(const std::string &words) {
        svg_.text(runlist_x, y_ + 16, words, {.size = 13});
        y_ += 26;
    }

    void legend() {
        const Font font{.size = 12};
        const double y = y_ + 14;
        double x = margin;
        auto entry = [&](const char *words) {
            svg_.text(x + 46, y + 4, words, font);
            x += 46 + text_width(words, font) + 26;
        };
        svg_.line(x, y, x + 38, y, owned);
        entry("assigned PCE");
        svg_.line(x, y, x + 38, y, borrowed);
        entry("borrowed (shared) PCE");
        svg_.rect({x, y - 9, 38, 18}, pattern::hatched, contended_edge, 4);
        entry("contended PCE: copies of several LCEs");
        svg_.rect({x, y - 9, 38, 18}, palette::white, no_pce, 4);
        entry("not connected");
        y_ = y + 20;
    }

    const CopyWiring &wiring_;
    const Caption &caption_;
    Svg svg_{picture_width};
    double y_ = 0;
    std::vector<Box> runlists_;
    std::map<std::string, Box> lces_;
    std::map<std::uint32_t, Box> pces_;
};

} // namespace

std::string copy_svg(const CopyWiring &wiring, const Caption &caption) {
    return CopyDrawing(wiring, caption).draw();
}

namespace {

Outcome<std::string> draw_svg(Context &context) {
    const auto copy = context.gpu().copy_topology();
    if (!copy)
        return tl::unexpected(Failure(copy.error()));
    const auto engines = context.gpu().engines();
    if (!engines)
        return tl::unexpected(Failure(engines.error()));
    return copy_svg(make_wiring(*copy, *engines), caption_of(context, "--svg"));
}

} // namespace

std::vector<Picture> copy_pictures() {
    return {{{"--svg", "a picture: runlists, LCEs and GRCEs, PCEs, which borrow and which contend"},
             draw_svg}};
}

} // namespace nvdebugctl
