// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Draws a picture as one self-contained SVG file, without scripts, fonts or images from
/// elsewhere.
///
/// The colours are those of Okabe and Ito, which colour-blind people can distinguish. A pattern, a
/// line or a word repeats the meaning of each colour, so that the picture can be printed in black
/// and white.
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

/// Fills that differ even without colour.
namespace pattern {
inline constexpr const char *hatched = "url(#hatched)", *dotted = "url(#dotted)";
}

struct Stroke {
    const char *color = palette::black;
    double width = 1;
    const char *dashes = nullptr; ///< the value of stroke-dasharray
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

/// Returns the greatest width that the text has in any usual sans-serif font.
double text_width(std::string_view text, const Font &font);

/// Returns @p text, cut with an ellipsis if it is wider than @p width.
[[nodiscard]] std::string fit(std::string_view text, const Font &font, double width);

/// Breaks @p text into lines of at most @p width, at blanks where possible.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, const Font &font, double width);

class Svg {
  public:
    explicit Svg(double width);

    /// Opens a group. @param kind its class, by which tools and tests find it
    void open_group(std::string_view kind, std::string_view title);
    void close_group();

    void rect(const Box &box, const char *fill, const Stroke &stroke = {}, double radius = 0);
    void line(double x1, double y1, double x2, double y2, const Stroke &stroke = {});
    /// Draws all segments as one path. The dashes begin again at each segment.
    void lines(const std::vector<Segment> &segments, const Stroke &stroke = {});
    /// Draws a curve that leaves and arrives horizontally.
    void curve(double x1, double y1, double x2, double y2, const Stroke &stroke);
    void text(double x, double y, std::string_view text, const Font &font = {},
              Anchor anchor = Anchor::start, std::string_view kind = "");

    /// Adds the drawing of @p other.
    void append(const Svg &other) { body_ += other.body_; }

    /// Draws title and identity. Returns the y below them.
    double heading(const std::string &title, const Caption &caption);
    /// Draws source and command in small print from @p y on. Returns the y below them.
    double footer(double y, const Caption &caption);

    /// Returns the file's text.
    [[nodiscard]] std::string finish(double height, std::string_view title) const;

  private:
    double width_;
    std::string body_;
};

inline constexpr double margin = 30;

} // namespace drawing
