// SPDX-License-Identifier: MIT OR GPL-2.0
#include "clock_plan.hpp"

#include <algorithm>
#include <array>

namespace qos {
namespace {

/// The lengths of cycles up to a second. Each divides a second.
constexpr std::array<Ns, 7> even_cycles = {50 * ms,  100 * ms, 125 * ms, 200 * ms,
                                           250 * ms, 500 * ms, 1000 * ms};

/// Returns the length of a cycle in which the shortest row has its window.
Ns even_cycle(std::span<const OwnedRow> rows, Ns window) {
    Part least = whole;
    for (const OwnedRow &row : rows)
        least = row.part > 0 ? std::min(least, row.part) : least;
    const Ns wanted = scaled(window, whole, least);
    for (const Ns cycle : even_cycles)
        if (cycle >= wanted)
            return cycle;
    const Ns for_all = static_cast<Ns>(rows.size()) * window;
    return std::max<Ns>(1, (for_all + second - 1) / second) * second;
}

bool has_capped_owner(std::span<const GangTenant> tenants, const OwnedRow &row) {
    return tenants[row.owners.front()].goal.cap.value_or(whole) < whole;
}

/// Returns rows that are @p length long together. A row with a cap ends earlier, because the pause
/// of its last rank may be late by a request or two. The first row without a cap gets the rest;
/// if there is none, the rest is a row without holders.
std::vector<Row> rows_of_length(std::span<const GangTenant> tenants,
                                std::span<const OwnedRow> owned, Ns length,
                                const ClockSettings &settings) {
    std::vector<Row> rows;
    Ns left = length;
    std::optional<std::size_t> takes;
    for (const OwnedRow &row : owned) {
        const bool is_capped = has_capped_owner(tenants, row);
        const Ns used = std::max<Ns>(0, scaled(length, row.part, whole) -
                                            (is_capped ? 2 * settings.request : 0));
        if (!is_capped && !takes)
            takes = rows.size();
        rows.push_back({.holders = row.owners, .length = used});
        left -= used;
    }
    if (takes)
        rows[*takes].length += left;
    else
        rows.push_back({.holders = {}, .length = left});
    return rows;
}

/// Gives the end of each row to the tenants of one node.
std::vector<Row> with_ends_for(std::span<const OwnedRow> own, std::span<const GangTenant> tenants,
                               std::span<const Row> rows, const ClockSettings &settings) {
    std::vector<Row> all;
    for (const Row &row : rows) {
        const Ns end = scaled(row.length, settings.for_one_node, whole);
        all.push_back({.holders = row.holders, .length = row.length - end});
        for (Row &inner : rows_of_length(tenants, own, end, settings))
            all.push_back(std::move(inner));
    }
    return all;
}

} // namespace

std::vector<std::vector<std::size_t>> clock_groups(std::span<const GangTenant> tenants) {
    std::vector<std::size_t> of_nodes;
    for (std::size_t n = 0; n < tenants.size(); n++)
        if (tenants[n].is_on_other_nodes)
            of_nodes.push_back(n);
    std::vector<std::vector<std::size_t>> groups = linked_tenants(tenants, of_nodes);
    for (std::vector<std::size_t> &group : groups) {
        const std::vector<std::size_t> linked = group;
        for (std::size_t n = 0; n < tenants.size(); n++)
            if (!tenants[n].is_on_other_nodes &&
                std::ranges::any_of(linked, [&](std::size_t other) {
                    return tenants[n].clashes_with(tenants[other]);
                }))
                group.push_back(n);
        std::ranges::sort(group, {},
                          [&](std::size_t n) { return std::string_view(tenants[n].name); });
    }
    std::erase_if(groups, [&](const std::vector<std::size_t> &group) {
        return group.size() == 1 && tenants[group.front()].goal.cap.value_or(whole) >= whole;
    });
    return groups;
}

WindowPlan plan_by_clock(std::span<const GangTenant> tenants, const ClockSettings &settings,
                         Ns now) {
    std::vector<std::size_t> of_nodes, of_one;
    for (std::size_t n = 0; n < tenants.size(); n++)
        (tenants[n].is_on_other_nodes ? of_nodes : of_one).push_back(n);
    const std::vector<OwnedRow> owned = owned_rows(tenants, of_nodes),
                                own = owned_rows(tenants, of_one);
    WindowPlan plan{.begin = now, .rows = {}, .parts = std::vector<Part>(tenants.size())};
    if (owned.empty() && own.empty())
        return plan;
    const std::vector<OwnedRow> &leading = owned.empty() ? own : owned;
    const Ns cycle = even_cycle(leading, settings.window);
    plan.begin -= now % cycle;
    plan.rows = rows_of_length(tenants, leading, cycle, settings);
    if (!owned.empty() && !own.empty())
        plan.rows = with_ends_for(own, tenants, plan.rows, settings);
    std::erase_if(plan.rows, [](const Row &row) { return row.length == 0; });
    fill_holes(tenants, of_nodes, plan.rows);
    fill_holes(tenants, of_one, plan.rows);
    for (std::size_t n = 0; n < tenants.size(); n++)
        plan.parts[n] =
            is_promised(tenants[n].goal.aim) ? tenants[n].goal.part : part_in_windows(plan, n);
    return plan;
}

Ns next_change_of_plans(Ns now) {
    return (now / second + 1) * second;
}

std::vector<std::size_t> short_of_windows(std::span<const GangTenant> tenants,
                                          const WindowPlan &plan) {
    std::vector<std::size_t> all;
    for (std::size_t n = 0; n < tenants.size(); n++) {
        const Goal &goal = tenants[n].goal;
        const Part least = is_promised(goal.aim) ? goal.part : 1;
        if (!tenants[n].is_first() && part_in_windows(plan, n) < least)
            all.push_back(n);
    }
    std::ranges::sort(all, {}, [&](std::size_t n) { return std::string_view(tenants[n].name); });
    return all;
}

} // namespace qos
