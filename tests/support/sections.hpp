// SPDX-License-Identifier: MIT OR GPL-2.0
// Golden files: each holds the text of several files, under a line `==> NAME`, or how that differs
// from another board's golden file (tests/support/golden_text.py).
#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sections {

struct Section {
    std::string name, text;
};

/// Applies a `diff -U0`, from its third line on, to the lines of @base.
inline std::vector<std::string> patched(const std::vector<std::string> &base,
                                        const std::vector<std::string> &diff) {
    std::vector<std::string> lines;
    std::size_t at = 0;
    const auto copy_to = [&](std::size_t end) {
        while (at < end)
            lines.push_back(base.at(at++));
    };
    for (std::size_t i = 2; i < diff.size(); i++) {
        const std::string &line = diff[i];
        std::size_t start = 0, count = 1;
        if (std::sscanf(line.c_str(), "@@ -%zu,%zu ", &start, &count) >= 1)
            // Without old lines, the new lines come after the line of that number.
            copy_to(count ? start - 1 : start);
        else if (line.starts_with('+'))
            lines.push_back(line.substr(1));
        else if (base.at(at++) != line.substr(1))
            throw std::runtime_error("no such line in the other board's file: " + line);
    }
    copy_to(base.size());
    return lines;
}

/// Returns the lines of a file; empty: there is no such file.
inline std::vector<std::string> lines_of(const std::filesystem::path &path) {
    std::vector<std::string> lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);)
        lines.push_back(std::move(line));
    const std::string mark = "--- ";
    if (lines.empty() || !lines[0].starts_with(mark))
        return lines;
    return patched(lines_of(path.parent_path().parent_path() / lines[0].substr(mark.size())),
                   lines);
}

/// Returns the sections of a file; empty: there is no such file.
inline std::vector<Section> load(const std::filesystem::path &path) {
    std::vector<Section> sections;
    for (const std::string &line : lines_of(path)) {
        if (line.starts_with("==> "))
            sections.push_back({line.substr(4), ""});
        else
            sections.back().text += line + "\n";
    }
    return sections;
}

} // namespace sections
