// SPDX-License-Identifier: MIT OR GPL-2.0
#include "gpu_map.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <sstream>

#include "text.hpp"

namespace nvtaskset {
namespace {

constexpr std::string_view first_line = "nvtaskset map 1";
constexpr std::uint32_t bits_max = any_gpu;
/// The limit of SM numbers in a map's file, far more than any GPU has.
constexpr std::uint32_t sms_max = 4096;

std::optional<std::uint32_t> number(std::string_view text) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                    : std::nullopt;
}

bool is_set(const Bits &bits, std::uint32_t bit) {
    return bits[bit / 32] >> bit % 32 & 1;
}

std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> parts;
    for (std::size_t end; (end = text.find(at)) != text.npos; text.remove_prefix(end + 1))
        parts.push_back(text.substr(0, end));
    parts.push_back(text);
    return parts;
}

std::optional<Tpc> parse_tpc(const std::vector<std::string_view> &words) {
    if (words.size() != 5)
        return std::nullopt;
    const auto bit = number(words[1]), gpc = number(words[2]), group = number(words[3]);
    if (!bit || *bit >= bits_max || !gpc || !group)
        return std::nullopt;
    Tpc tpc{*bit, {}, *gpc, *group};
    for (const std::string_view word : split(words[4], ',')) {
        const auto sm = number(word);
        if (!sm || *sm >= sms_max)
            return std::nullopt;
        tpc.sms.push_back(*sm);
    }
    return tpc;
}

using FreeTpcs = std::map<std::uint32_t, std::vector<std::uint32_t>>; // TPCs by GPC

std::vector<std::uint32_t> pack(FreeTpcs free, std::size_t count) {
    std::vector<std::uint32_t> chosen;
    while (chosen.size() < count) {
        const std::size_t wanted = count - chosen.size();
        // Takes the largest GPC that would be used up, or else the smallest that has enough.
        auto best = free.end();
        for (auto gpc = free.begin(); gpc != free.end(); ++gpc) {
            const std::size_t size = gpc->second.size();
            if (best == free.end()) {
                best = gpc;
                continue;
            }
            const std::size_t found = best->second.size();
            const bool whole = size <= wanted, best_whole = found <= wanted;
            if (whole != best_whole ? whole : whole ? size > found : size < found)
                best = gpc;
        }
        const std::size_t n = std::min(wanted, best->second.size());
        chosen.insert(chosen.end(), best->second.begin(),
                      best->second.begin() + static_cast<std::ptrdiff_t>(n));
        free.erase(best);
    }
    return chosen;
}

std::vector<std::uint32_t> spread(FreeTpcs free, std::size_t count) {
    constexpr std::size_t at_once = 4;
    std::vector<std::uint32_t> chosen;
    while (chosen.size() < count)
        for (auto &[gpc, tpcs] : free) {
            const std::size_t n = std::min({at_once, tpcs.size(), count - chosen.size()});
            const auto end = tpcs.begin() + static_cast<std::ptrdiff_t>(n);
            chosen.insert(chosen.end(), tpcs.begin(), end);
            tpcs.erase(tpcs.begin(), end);
        }
    return chosen;
}

} // namespace

std::string map_text(const GpuMap &map) {
    std::ostringstream text;
    text << first_line << "\ngpu " << uuid_text(map.uuid) << "\ndriver " << map.driver << "\n";
    for (const Tpc &tpc : map.tpcs) {
        text << "tpc " << tpc.bit << " " << tpc.gpc << " " << tpc.cluster_group << " ";
        for (std::size_t n = 0; n < tpc.sms.size(); n++)
            text << (n ? "," : "") << tpc.sms[n];
        text << "\n";
    }
    text << "end\n";
    return text.str();
}

std::optional<GpuMap> parse_map(std::string_view text) {
    GpuMap map;
    bool gpu = false, end = false;
    std::set<std::uint32_t> bits, sms;
    const auto lines = split(text, '\n');
    if (lines.front() != first_line)
        return std::nullopt;
    for (std::size_t n = 1; n < lines.size(); n++) {
        const auto words = split(lines[n], ' ');
        if (end)
            return lines[n].empty() && n + 1 == lines.size() && gpu && !map.driver.empty() &&
                           !map.tpcs.empty()
                       ? std::optional(std::move(map))
                       : std::nullopt;
        if (words[0] == "gpu" && words.size() == 2 && !gpu) {
            const auto uuid = parse_uuid(words[1]);
            if (!uuid)
                return std::nullopt;
            map.uuid = *uuid;
            gpu = true;
        } else if (words[0] == "driver" && words.size() == 2) {
            map.driver = words[1];
        } else if (words[0] == "tpc") {
            auto tpc = parse_tpc(words);
            if (!tpc || !bits.insert(tpc->bit).second)
                return std::nullopt;
            for (const std::uint32_t sm : tpc->sms)
                if (!sms.insert(sm).second)
                    return std::nullopt;
            map.tpcs.push_back(std::move(*tpc));
        } else if (lines[n] == "end") {
            end = true;
        } else {
            return std::nullopt;
        }
    }
    return std::nullopt;
}

Bits exists(const GpuMap &map) {
    Bits bits{};
    for (const Tpc &tpc : map.tpcs)
        bits[tpc.bit / 32] |= 1U << tpc.bit % 32;
    return bits;
}

std::vector<std::uint32_t> gpcs(const GpuMap &map) {
    std::set<std::uint32_t> found;
    for (const Tpc &tpc : map.tpcs)
        found.insert(tpc.gpc);
    return {found.begin(), found.end()};
}

Outcome<std::vector<std::uint32_t>> parse_list(std::string_view text, const std::string &what,
                                               std::uint32_t limit) {
    std::set<std::uint32_t> found;
    for (const std::string_view part : split(text, ',')) {
        const auto ends = split(part, '-');
        const auto first = number(ends.front()), last = number(ends.back());
        if (ends.size() > 2 || !first || !last || *first > *last)
            return fail("'" + std::string(text) + "' is no list of " + what + "s: write 0-3,7",
                        Exit::bad_usage);
        if (*last >= limit)
            return fail(limit == any_gpu ? "no GPU has " + what + " " + std::to_string(*last)
                                         : "there is no " + what + " " + std::to_string(*last) +
                                               ": this GPU has 0 to " + std::to_string(limit - 1),
                        Exit::bad_usage);
        for (std::uint32_t n = *first; n <= *last; n++)
            found.insert(n);
    }
    return std::vector(found.begin(), found.end());
}

std::string list_text(const std::vector<std::uint32_t> &numbers) {
    std::string text;
    for (std::size_t n = 0; n < numbers.size();) {
        std::size_t last = n;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1)
            last++;
        text += (text.empty() ? "" : ",") + std::to_string(numbers[n]);
        if (last > n)
            text += (last > n + 1 ? "-" : ",") + std::to_string(numbers[last]);
        n = last + 1;
    }
    return text;
}

Outcome<std::vector<std::uint32_t>> tpcs_of_gpcs(const GpuMap &map,
                                                 const std::vector<std::uint32_t> &wanted) {
    for (const std::uint32_t gpc : wanted)
        if (std::ranges::none_of(map.tpcs, [gpc](const Tpc &tpc) { return tpc.gpc == gpc; }))
            return fail("there is no GPC " + std::to_string(gpc) + ": this GPU has " +
                            list_text(gpcs(map)),
                        Exit::bad_usage);
    std::vector<std::uint32_t> found;
    for (std::uint32_t n = 0; n < map.tpcs.size(); n++)
        if (std::ranges::count(wanted, map.tpcs[n].gpc))
            found.push_back(n);
    return found;
}

Outcome<std::vector<std::uint32_t>> choose(const GpuMap &map, std::size_t count,
                                           const std::vector<std::uint32_t> &taken,
                                           Placement placement) {
    FreeTpcs free;
    std::size_t left = 0;
    for (std::uint32_t n = 0; n < map.tpcs.size(); n++)
        if (!std::ranges::count(taken, n)) {
            free[map.tpcs[n].gpc].push_back(n);
            left++;
        }
    if (count > left)
        return fail(std::to_string(count) + " TPCs are asked for and " + std::to_string(left) +
                    " of " + std::to_string(map.tpcs.size()) + " are free");
    auto chosen = placement == Placement::packed ? pack(std::move(free), count)
                                                 : spread(std::move(free), count);
    std::ranges::sort(chosen);
    return chosen;
}

Partition partition_of(const GpuMap &map, const std::vector<std::uint32_t> &tpcs) {
    Partition partition;
    partition.uuid = map.uuid;
    partition.exists = exists(map);
    partition.disabled = partition.exists;
    std::map<std::uint32_t, std::uint32_t> groups;
    for (const std::uint32_t n : tpcs) {
        const Tpc &tpc = map.tpcs[n];
        partition.disabled[tpc.bit / 32] &= ~(1U << tpc.bit % 32);
        const auto sms = static_cast<std::uint32_t>(tpc.sms.size());
        partition.sms += sms;
        groups[tpc.cluster_group] += sms;
    }
    for (const auto &[group, sms] : groups)
        partition.largest_gpc = std::max(partition.largest_gpc, sms);
    return partition;
}

std::vector<std::uint32_t> tpcs_of(const GpuMap &map, const Partition &partition) {
    std::vector<std::uint32_t> found;
    for (std::uint32_t n = 0; n < map.tpcs.size(); n++)
        if (!is_set(partition.disabled, map.tpcs[n].bit))
            found.push_back(n);
    return found;
}

} // namespace nvtaskset
