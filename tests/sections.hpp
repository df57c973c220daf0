// SPDX-License-Identifier: MIT OR GPL-2.0
// Golden files: each holds the text of several files, under a line `==> NAME`.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace sections {

struct Section {
    std::string name, text;
};

/// Empty: there is no such file.
inline std::vector<Section> load(const std::filesystem::path &path) {
    std::vector<Section> sections;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("==> "))
            sections.push_back({line.substr(4), ""});
        else
            sections.back().text += line + "\n";
    }
    return sections;
}

} // namespace sections
