// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Makes lines of a live view, without a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/lines.hpp"

namespace nvdebug::live {

struct Piece {
    /// The last four distinguish residents of an engine.
    enum class Ink { plain, bold, dim, heading, first, second, third, fourth };
    std::string text;
    Ink ink = Ink::plain;
};

using ViewLine = std::vector<Piece>;

struct Size {
    std::size_t rows, columns;
};

/// Keys that are not characters.
enum Key : int { key_up = 0x110000, key_down, key_page_up, key_page_down, key_home, key_end };

/// The scroll position of a view.
class Scroll {
  public:
    /// Scrolls if the key is one for scrolling.
    void handle(int key);
    void to_top() { first_ = 0; }
    /// Returns the lines that are on the screen, at most @p room of them.
    [[nodiscard]] std::vector<ViewLine> cut(std::vector<ViewLine> lines, std::size_t room);
    /// Returns `  arrows 3-10 of 25`; empty: all lines are on the screen.
    [[nodiscard]] std::string where(std::size_t count, std::size_t room) const;

  private:
    std::size_t first_ = 0; ///< line at the top
    std::size_t page_ = 1;
};

/// Adds @p head and `text`, which continues below itself.
void add_wrapped(std::vector<ViewLine> &lines, std::string head, std::string_view text,
                 std::size_t columns, Piece::Ink ink);
/// Cuts the line to @p columns.
void cut_line(ViewLine &line, std::size_t columns);
/// Removes lines in front until the lines fit on the screen, whose last line shows the keys, and
/// cuts each line to its width.
void fit(std::vector<ViewLine> &lines, Size size);
/// Returns a line of the screen's width in a single ink.
ViewLine heading(std::string text, std::size_t columns);

using base::cut_text;
using base::width_of;
[[nodiscard]] std::size_t width_of(const ViewLine &line);
/// Adds blanks up to @p width columns.
void pad(ViewLine &line, std::size_t width);

} // namespace nvdebug::live
