// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Lines of a live view: no terminal is needed to make them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace nvdebug::live {

struct Piece {
    /// The last four distinguish the residents of an engine.
    enum class Ink { plain, bold, dim, heading, first, second, third, fourth };
    std::string text;
    Ink ink = Ink::plain;
};

using ViewLine = std::vector<Piece>;

struct Size {
    std::size_t rows, columns;
};

/// Keys that are no characters.
enum Key : int { key_up = 0x110000, key_down, key_page_up, key_page_down, key_home, key_end };

/// Which of the lines of a view are on the screen.
class Scroll {
  public:
    /// Moves by keys for that; ignores others.
    void handle(int key);
    void to_top() { first_ = 0; }
    /// Of @p count lines those that fit in @p room.
    [[nodiscard]] std::vector<ViewLine> cut(std::vector<ViewLine> lines, std::size_t room);
    /// `  arrows 3-10 of 25`; empty: all are there.
    [[nodiscard]] std::string where(std::size_t count, std::size_t room) const;

  private:
    std::size_t first_ = 0; ///< line at the top
    std::size_t page_ = 1;
};

/// `text` behind @p head, continued below itself.
void add_wrapped(std::vector<ViewLine> &lines, std::string head, std::string_view text,
                 std::size_t columns, Piece::Ink ink);
/// The first @p columns of it.
void cut_line(ViewLine &line, std::size_t columns);
/// Leaves the last lines that fit on the screen, the line of keys among them, and cuts them.
void fit(std::vector<ViewLine> &lines, Size size);
/// One that is as wide as the screen and has no other ink.
ViewLine heading(std::string text, std::size_t columns);

/// Width in columns of text with characters of one column each.
[[nodiscard]] std::size_t width_of(std::string_view text);
[[nodiscard]] std::size_t width_of(const ViewLine &line);
/// The first @p columns of @p text.
[[nodiscard]] std::string cut_text(std::string_view text, std::size_t columns);
/// Adds blanks up to @p width.
void pad(ViewLine &line, std::size_t width);

} // namespace nvdebug::live
