// SPDX-License-Identifier: MIT OR GPL-2.0
// Makes lists in the form in which the module prints them.
#ifndef NVDEBUG_TESTS_LIB_BOXES_HPP
#define NVDEBUG_TESTS_LIB_BOXES_HPP

#include <string>
#include <utility>
#include <vector>

namespace boxes {

using Lines = std::vector<std::pair<std::string, std::string>>;

inline std::string box(std::size_t indent, const std::string &title, const Lines &lines) {
    const std::string margin(indent, ' ');
    std::string text = margin + "+- " + title + " -+\n";
    for (const auto &[key, value] : lines)
        text += margin + "| " + key + ": " + value + " |\n";
    return text + margin + "+----+\n";
}

inline std::string list(int tsgs, int channels, int unknown = 0,
                        const std::string &snapshot = "consistent") {
    return box(0, "Runlist 0",
               {{"Entries", std::to_string(tsgs + channels + unknown)},
                {"TSGs", std::to_string(tsgs)},
                {"Channels", std::to_string(channels)},
                {"Pending", "0"},
                {"Address", "0x1000"},
                {"Aperture", "vid"},
                {"Snapshot", snapshot}});
}

inline std::string tsg(int id, const std::string &us, int length, const Lines &more = {}) {
    Lines lines{{"Scale", "0"},
                {"Timeout", "1"},
                {"Timeslice (us)", us},
                {"Length", std::to_string(length)}};
    lines.insert(lines.end(), more.begin(), more.end());
    return box(0, "TSG Entry " + std::to_string(id), lines);
}

inline std::string channel(int id, const std::string &enabled, std::size_t indent = 2) {
    return box(indent, "Channel Info " + std::to_string(id), {{"Enabled", enabled}});
}

} // namespace boxes

#endif
