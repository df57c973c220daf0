// SPDX-License-Identifier: MIT OR GPL-2.0
// Channels of a layout, and the rows of `contexts`.
#pragma once

#include "bench.hpp"
#include "text.hpp"

#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace core {

using Place = std::pair<std::uint64_t, std::string>;
using Key = std::pair<unsigned, unsigned>; // runlist, channel

inline Place place(const Json &at) {
    return {number(at.at("address")), at.at("aperture")};
}

inline std::map<Key, Json> by_channel(const Json &layout) {
    std::map<Key, Json> all;
    for (const Json &channel : layout.at("channels"))
        all[{channel.at("runlist"), channel.at("channel")}] = channel;
    return all;
}

/// Returns the rows of `contexts`, without its first line.
inline std::vector<std::vector<std::string>> rows(const std::string &text) {
    std::vector<std::vector<std::string>> all;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("#"))
            continue;
        std::istringstream words(line);
        all.emplace_back();
        for (std::string word; words >> word;)
            all.back().push_back(word);
    }
    return all;
}

} // namespace core
