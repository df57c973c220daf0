// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lib/live/view_lines.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "lib/base/lines.hpp"

namespace nvdebug::live {

std::size_t width_of(const ViewLine &line) {
    std::size_t width = 0;
    for (const Piece &piece : line)
        width += width_of(piece.text);
    return width;
}

void pad(ViewLine &line, std::size_t width) {
    if (const std::size_t now = width_of(line); now < width)
        line.push_back({std::string(width - now, ' ')});
}

void cut_line(ViewLine &line, std::size_t columns) {
    for (Piece &piece : line) {
        piece.text = cut_text(piece.text, columns);
        columns -= width_of(piece.text);
    }
}

void fit(std::vector<ViewLine> &lines, Size size) {
    if (lines.size() > size.rows)
        lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(size.rows));
    for (ViewLine &line : lines)
        cut_line(line, size.columns);
}

ViewLine heading(std::string text, std::size_t columns) {
    ViewLine line{{cut_text(text, columns), Piece::Ink::heading}};
    line[0].text.append(columns - width_of(line), ' ');
    return line;
}

void add_wrapped(std::vector<ViewLine> &lines, std::string head, std::string_view text,
                 std::size_t columns, Piece::Ink ink) {
    const std::size_t left = width_of(head);
    const std::size_t room = std::max<std::size_t>(columns - std::min(left, columns), 12);
    for (const std::string &part :
         base::break_lines(text, [&](std::string_view line) { return width_of(line) <= room; })) {
        lines.push_back({{head + part, ink}});
        head.assign(left, ' ');
    }
}

void Scroll::handle(int key) {
    const std::size_t back = key == key_up ? 1 : key == key_page_up ? page_ : 0;
    const std::size_t on = key == key_down ? 1 : key == key_page_down ? page_ : 0;
    first_ = first_ - std::min(first_, back) + on;
    if (key == key_home)
        first_ = 0;
    if (key == key_end)
        first_ = SIZE_MAX / 2; // cut() limits this to the number of lines
}

std::vector<ViewLine> Scroll::cut(std::vector<ViewLine> lines, std::size_t room) {
    page_ = std::max<std::size_t>(room, 1);
    first_ = std::min(first_, lines.size() - std::min(lines.size(), room));
    lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(first_));
    lines.resize(std::min(lines.size(), room));
    return lines;
}

std::string Scroll::where(std::size_t count, std::size_t room) const {
    return count > room ? fmt::format("  arrows {}-{} of {}", first_ + 1, first_ + room, count)
                        : std::string();
}

} // namespace nvdebug::live
