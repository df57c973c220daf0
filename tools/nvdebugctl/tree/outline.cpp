// SPDX-License-Identifier: MIT OR GPL-2.0
#include "tree/outline.hpp"

#include <algorithm>

namespace nvdebugctl {

namespace {

/** What leads to a branch and past it. */
struct Strokes {
    const char *fork, *last, *pass, *none, *cut;
    std::size_t cut_width;
};

constexpr Strokes unicode_strokes{"├─ ", "└─ ", "│  ", "   ", "…", 1};
constexpr Strokes ascii_strokes{"|- ", "`- ", "|  ", "   ", "...", 3};

bool starts_character(char byte) {
    return (byte & 0xc0) != 0x80;
}

std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
}

std::string_view first_columns(std::string_view text, std::size_t columns) {
    std::size_t end = 0;
    for (; end < text.size(); ++end)
        if (starts_character(text[end]) && columns-- == 0)
            break;
    return text.substr(0, end);
}

class Drawing {
  public:
    Drawing(const Terminal &terminal, Page &page)
        : width_(terminal.width), strokes_(terminal.unicode ? unicode_strokes : ascii_strokes),
          page_(page) {}

    void draw(const Branch &branch, const std::string &lead, const std::string &below) {
        put_line(lead, branch.line);
        for (std::size_t i = 0; i < branch.branches.size(); ++i) {
            bool last = i + 1 == branch.branches.size();
            draw(branch.branches[i], below + (last ? strokes_.last : strokes_.fork),
                 below + (last ? strokes_.none : strokes_.pass));
        }
    }

  private:
    void put_line(const std::string &lead, const std::vector<Span> &line) {
        std::size_t length = width_of(lead);
        for (const Span &span : line)
            length += width_of(span.text);
        bool cut = width_ && length > *width_ && *width_ > strokes_.cut_width;
        std::size_t room = cut ? *width_ - strokes_.cut_width : length;
        std::string text = inked(lead, Ink::dim, room);
        for (const Span &span : line)
            text += inked(span.text, span.ink, room);
        page_.line(cut ? text + strokes_.cut : text);
    }

    std::string inked(std::string_view span, Ink ink, std::size_t &room) const {
        std::string_view shown = first_columns(span, room);
        room -= width_of(shown);
        if (shown.empty())
            return "";
        switch (ink) {
        case Ink::bold:
            return page_.bold(shown);
        case Ink::dim:
            return page_.dim(shown);
        case Ink::warning:
            return page_.warning(shown);
        case Ink::plain:
            break;
        }
        return std::string(shown);
    }

    const std::optional<std::size_t> width_;
    const Strokes &strokes_;
    Page &page_;
};

} // namespace

void draw_outline(const Branch &root, const Terminal &terminal, Page &page) {
    Drawing(terminal, page).draw(root, "", "");
}

} // namespace nvdebugctl
