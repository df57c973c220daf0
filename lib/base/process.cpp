// SPDX-License-Identifier: MIT OR GPL-2.0
#include "process.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <string>

namespace nvdebug::base {

std::string_view stat_field(std::string_view stat, int number) {
    constexpr int first = 3;
    const std::size_t name_end = stat.rfind(')');
    if (name_end == stat.npos)
        return {};
    std::string_view rest = stat.substr(name_end + 1);
    std::string_view word;
    for (int field = first; field <= number; field++) {
        rest.remove_prefix(std::min(rest.find_first_not_of(" \n"), rest.size()));
        word = rest.substr(0, rest.find_first_of(" \n"));
        rest.remove_prefix(word.size());
    }
    return word;
}

std::optional<std::uint32_t> parent_of(std::uint32_t pid) {
    constexpr int ppid = 4;
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat", std::ios::binary);
    const std::string stat(std::istreambuf_iterator<char>(file), {});
    const std::string_view word = stat_field(stat, ppid);
    std::uint32_t parent = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), parent);
    return !word.empty() && error == std::errc() && end == word.data() + word.size()
               ? std::optional(parent)
               : std::nullopt;
}

bool descends_from(std::uint32_t pid, std::uint32_t ancestor) {
    constexpr int deepest = 1000; // a bound, as processes come and go meanwhile
    std::optional<std::uint32_t> at = pid;
    for (int depth = 0; depth < deepest && at && *at; depth++, at = parent_of(*at))
        if (*at == ancestor)
            return true;
    return false;
}

} // namespace nvdebug::base
