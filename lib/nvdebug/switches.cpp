// SPDX-License-Identifier: MIT OR GPL-2.0
#include "nvdebug/switches.hpp"
#include "lib/base/text.hpp"
#include "nvdebug/parse.hpp"

#include <algorithm>

namespace nvdebug {
namespace {

using text::key;

constexpr text::Key<ContextSwitches> head_keys[] = {
    key<&ContextSwitches::dropped>("dropped"),
    key<&ContextSwitches::begin_ns>("begin_ns"),
    key<&ContextSwitches::end_ns>("end_ns"),
};

void set_starts(const text::Value &value, ContextSwitch &to) {
    to.starts = value.text == "1";
}

constexpr text::Key<ContextSwitch> switch_columns[] = {
    key<&ContextSwitch::ns>("ns"),
    {"starts", set_starts},
    key<&ContextSwitch::context>("context"),
    key<&ContextSwitch::pid>("pid"),
};

} // namespace

Result<ContextSwitches> parse_context_switches(std::string_view text) {
    const std::size_t end = std::min(text.find("\n\n"), text.size());
    const std::string_view table = text.substr(std::min(end + 2, text.size()));
    return text::parse_record<ContextSwitches>(text.substr(0, end + 1), head_keys)
        .and_then([&](ContextSwitches record) {
            return text::parse_table<ContextSwitch>(table, switch_columns)
                .map([&](std::vector<ContextSwitch> switches) {
                    record.switches = std::move(switches);
                    return std::move(record);
                });
        });
}

std::map<std::uint32_t, double> residency(const ContextSwitches &record) {
    std::map<std::uint32_t, double> parts;
    const auto &all = record.switches;
    if (all.empty() || record.dropped)
        return parts;
    const std::uint64_t begin = record.begin_ns.value_or(all.front().ns),
                        end = record.end_ns.value_or(all.back().ns);
    if (end <= begin)
        return parts;
    const auto add = [&](std::uint32_t pid, std::uint64_t from, std::uint64_t to) {
        from = std::max(from, begin);
        to = std::min(to, end);
        if (from < to)
            parts[pid] += static_cast<double>(to - from) / static_cast<double>(end - begin);
    };
    // A process with an end as its first record was on the engine from the beginning on.
    if (!all.front().starts)
        add(all.front().pid, begin, all.front().ns);
    for (std::size_t n = 0; n + 1 < all.size(); n++)
        if (all[n].starts)
            add(all[n].pid, all[n].ns, all[n + 1].ns);
    if (all.back().starts)
        add(all.back().pid, all.back().ns, end);
    return parts;
}

} // namespace nvdebug
