// SPDX-License-Identifier: MIT OR GPL-2.0
#include "svg.hpp"

#include <array>
#include <fmt/format.h>

#include "lib/base/lines.hpp"
#include "lib/base/printable.hpp"

namespace drawing {

namespace {

/// Widths of ASCII characters from 32 on in DejaVu Sans, in 1/1000 em. No usual sans-serif font is
/// wider.
constexpr std::array<int, 95> advances = {
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361,  318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635,  611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352,  635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592,  525, 636, 337, 636, 838};
constexpr int widest_advance = 1000;
constexpr double bold_factor = 1.16;

bool continues_character(char byte) {
    return (byte & 0xc0) == 0x80;
}

int advance_of(char first) {
    auto byte = static_cast<unsigned char>(first);
    return byte >= 32 && byte < 127 ? advances[byte - 32] : widest_advance;
}

std::string escaped(std::string_view text) {
    std::string out;
    for (char c : nvdebug::base::printable(text))
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        default:
            out += c;
        }
    return out;
}

std::string attributes_of(const Stroke &stroke) {
    std::string text =
        fmt::format("stroke=\"{}\" stroke-width=\"{:g}\"", stroke.color, stroke.width);
    if (stroke.dashes)
        text += fmt::format(" stroke-dasharray=\"{}\"", stroke.dashes);
    if (stroke.arrow)
        text += " marker-end=\"url(#arrow)\"";
    return text;
}

constexpr const char *definitions = R"svg(<defs>
<pattern id="hatched" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="7" height="7" fill="#FFFFFF"/><rect width="2.5" height="7" fill="#D55E00"/></pattern>
<pattern id="dotted" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="#FFFFFF"/><circle cx="3" cy="3" r="1" fill="#444444"/></pattern>
<marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#000000"/></marker>
</defs>
)svg";

} // namespace

double text_width(std::string_view text, const Font &font) {
    int sum = 0;
    for (char c : text)
        if (!continues_character(c))
            sum += advance_of(c);
    return sum * font.size / 1000 * (font.bold ? bold_factor : 1);
}

std::string fit(std::string_view text, const Font &font, double width) {
    if (text_width(text, font) <= width)
        return std::string(text);
    static constexpr std::string_view ellipsis = "…";
    double room = width - text_width(ellipsis, font);
    std::size_t end = 0, next = 0;
    while (next < text.size()) {
        std::size_t after = next + 1;
        while (after < text.size() && continues_character(text[after]))
            ++after;
        if (text_width(text.substr(0, after), font) > room)
            break;
        end = next = after;
    }
    return std::string(text.substr(0, end)) + std::string(ellipsis);
}

std::vector<std::string> wrap(std::string_view text, const Font &font, double width) {
    std::vector<std::string> lines = nvdebug::base::break_lines(
        text, [&](std::string_view line) { return text_width(line, font) <= width; });
    for (std::string &line : lines)
        line = fit(line, font, width);
    return lines;
}

Svg::Svg(double width) : width_(width) {}

void Svg::open_group(std::string_view kind, std::string_view title) {
    body_ += fmt::format("<g class=\"{}\">", kind);
    if (!title.empty())
        body_ += fmt::format("<title>{}</title>", escaped(title));
    body_ += '\n';
}

void Svg::close_group() {
    body_ += "</g>\n";
}

void Svg::rect(const Box &box, const char *fill, const Stroke &stroke, double radius) {
    body_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
                         "rx=\"{:g}\" fill=\"{}\" {}/>\n",
                         box.x, box.y, box.width, box.height, radius, fill, attributes_of(stroke));
}

void Svg::line(double x1, double y1, double x2, double y2, const Stroke &stroke) {
    body_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1,
                         y1, x2, y2, attributes_of(stroke));
}

void Svg::lines(const std::vector<Segment> &segments, const Stroke &stroke) {
    static constexpr std::size_t columns = 240;
    std::string path;
    std::size_t begin = 0;
    for (const Segment &each : segments) {
        const std::string text =
            fmt::format("M{:.1f},{:.1f}L{:.1f},{:.1f}", each.x1, each.y1, each.x2, each.y2);
        if (path.size() + text.size() - begin > columns) {
            path += '\n';
            begin = path.size();
        } else if (!path.empty())
            path += ' ';
        path += text;
    }
    body_ += fmt::format("<path {} fill=\"none\"\nd=\"{}\"/>\n", attributes_of(stroke), path);
}

void Svg::curve(double x1, double y1, double x2, double y2, const Stroke &stroke) {
    double bend = (x2 - x1) / 2;
    body_ += fmt::format("<path d=\"M{:.1f},{:.1f} C{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}\" "
                         "fill=\"none\" {}/>\n",
                         x1, y1, x1 + bend, y1, x2 - bend, y2, x2, y2, attributes_of(stroke));
}

void Svg::text(double x, double y, std::string_view text, const Font &font, Anchor anchor,
               std::string_view kind) {
    static constexpr const char *anchors[] = {"start", "middle", "end"};
    body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:g}\"", x, y, font.size);
    if (font.bold)
        body_ += " font-weight=\"bold\"";
    if (anchor != Anchor::start)
        body_ += fmt::format(" text-anchor=\"{}\"", anchors[static_cast<int>(anchor)]);
    if (std::string_view(font.color) != palette::black)
        body_ += fmt::format(" fill=\"{}\"", font.color);
    if (!kind.empty())
        body_ += fmt::format(" class=\"{}\"", kind);
    body_ += fmt::format(">{}</text>\n", escaped(text));
}

double Svg::heading(const std::string &title, const Caption &caption) {
    const Font large{.size = 20, .bold = true};
    const Font normal{.size = 13, .color = palette::dark_grey};
    text(margin, 40, fit(title, large, width_ - 2 * margin), large);
    text(margin, 62, fit(caption.gpu, normal, width_ - 2 * margin), normal);
    return 80;
}

double Svg::footer(double y, const Caption &caption) {
    const Font small{.size = 11, .color = palette::dark_grey};
    line(margin, y, width_ - margin, y, {.color = palette::dark_grey, .width = 0.5});
    for (const std::string &words :
         wrap(fmt::format("Source: {}. Drawn by {}.", caption.source, caption.command), small,
              width_ - 2 * margin))
        text(margin, y += 16, words, small);
    return y + 20;
}

std::string Svg::finish(double height, std::string_view title) const {
    return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                       "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" "
                       "width=\"{0:g}\" height=\"{1:g}\" "
                       "font-family=\"Helvetica, Arial, sans-serif\" fill=\"#000000\">\n"
                       "<title>{2}</title>\n{3}"
                       "<rect width=\"{0:g}\" height=\"{1:g}\" fill=\"#FFFFFF\"/>\n{4}</svg>\n",
                       width_, height, escaped(title), definitions, body_);
}

} // namespace drawing
