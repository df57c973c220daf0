// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lines.hpp"

#include <algorithm>

namespace nvdebug::base {

std::vector<std::string> break_lines(std::string_view text,
                                     const std::function<bool(std::string_view)> &fits) {
    std::vector<std::string> lines;
    std::string line;
    while (!text.empty()) {
        const std::size_t blank = text.find(' ');
        const std::string word(text.substr(0, blank));
        text.remove_prefix(blank == text.npos ? text.size() : blank + 1);
        if (line.empty()) {
            line = word;
        } else if (const std::string longer = line + ' ' + word; fits(longer)) {
            line = longer;
        } else {
            lines.push_back(line);
            line = word;
        }
    }
    if (!line.empty())
        lines.push_back(line);
    return lines;
}

std::vector<std::string> break_lines(std::string_view text, std::size_t columns) {
    return break_lines(text, [&](std::string_view line) { return line.size() <= columns; });
}

std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char byte) { return (byte & 0xc0) != 0x80; }));
}

std::string cut_text(std::string_view text, std::size_t columns) {
    std::size_t end = 0;
    for (; end < text.size(); ++end)
        if ((text[end] & 0xc0) != 0x80 && columns-- == 0)
            break;
    return std::string(text.substr(0, end));
}

} // namespace nvdebug::base
