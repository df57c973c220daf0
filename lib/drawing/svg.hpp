// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A picture as one self-contained SVG file: no script, no font and no image from elsewhere.
///
/// Colours are Okabe and Ito's, which colour-blind eyes distinguish. A pattern, a line or a
/// word repeats the meaning of each colour, so that the picture can be printed in black and white.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace drawing {

namespace palette {
inline constexpr const char *black = "#000000", *orange = "#E69F00", *sky = "#56B4E9",
                            *blue = "#0072B2", *vermillion = "#D55E00", *white = "#FFFFFF",
                            *grey = "#E8E8E8", *dark_grey = "#444444";
}

/// Fills that differ without colour.
namespace pattern {
inline constexpr const char *hatched = "url(#hatched)", *dotted = "url(#dotted)";
}

struct Stroke {
    const char *color = palette::black;
    double width = 1;
    const char *dashes = nullptr; ///< as stroke-dasharray
    bool arrow = false;
};

struct Segment {
    double x1, y1, x2, y2;
};

struct Font {
    double size = 13;
    bool bold = false;
    const char *color = palette::black;
};

enum class Anchor { start, middle, end };

struct Box {
    double x, y, width, height;
    double right() const { return x + width; }
    double bottom() const { return y + height; }
    double middle() const { return y + height / 2; }
};

/// The caption of a picture.
struct Caption {
    std::string gpu;     ///< `AD102 (Ada), 0000:01:00.0`
    std::string source;  ///< `live, 2026-01-31T12:00:00Z`
    std::string command; ///< `nvdebugctl 0.1.0, runlist tree --svg`
};

/// At most so wide in any usual sans-serif font.
double text_width(std::string_view text, const Font &font);

/// @p text, cut with an ellipsis where it would be wider than @p width.
[[nodiscard]] std::string fit(std::string_view text, const Font &font, double width);

/// @p text in lines not wider than @p width, broken at blanks where possible.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, const Font &font, double width);

class Svg {
  public:
    explicit Svg(double width);

    /// @param kind what tools and tests find it by (its class).
    void open_group(std::string_view kind, std::string_view title);
    void close_group();

    void rect(const Box &box, const char *fill, const Stroke &stroke = {}, double radius = 0);
    void line(double x1, double y1, double x2, double y2, const Stroke &stroke = {});
    /// All segments as one path; a pattern of dashes begins anew at each.
    void lines(const std::vector<Segment> &segments, const Stroke &stroke = {});
    /// From one point to another, leaving and arriving horizontally.
    void curve(double x1, double y1, double x2, double y2, const Stroke &stroke);
    void text(double x, double y, std::string_view text, const Font &font = {},
              Anchor anchor = Anchor::start, std::string_view kind = "");

    /// What @p other has drawn so far.
    void append(const Svg &other) { body_ += other.body_; }

    /// Title and identity; the y below them.
    double heading(const std::string &title, const Caption &caption);
    /// Source and command in small print from @p y on; the y below it.
    double footer(double y, const Caption &caption);

    /// The file.
    [[nodiscard]] std::string finish(double height, std::string_view title) const;

  private:
    double width_;
    std::string body_;
};

inline constexpr double margin = 30;

} // namespace drawing
