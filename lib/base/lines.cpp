// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lines.hpp"

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

} // namespace nvdebug::base
