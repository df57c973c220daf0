// SPDX-License-Identifier: MIT OR GPL-2.0
#include "clock_keeper.hpp"

#include <algorithm>
#include <limits>

namespace qos {
namespace {

bool are_alike(const GangTenant &one, const GangTenant &other) {
    return one.name == other.name && one.gpus == other.gpus && one.goal == other.goal &&
           one.is_on_other_nodes == other.is_on_other_nodes;
}

} // namespace

void ClockKeeper::set_tenants(std::vector<GangTenant> tenants, Ns now) {
    std::ranges::sort(tenants, {}, &GangTenant::name);
    for (GangTenant &tenant : tenants)
        tenant.account = {};
    const bool is_set_back = now < stepped_at_;
    if (!is_set_back && std::ranges::equal(tenants, next_at_ ? next_ : tenants_, are_alike))
        return;
    next_ = std::move(tenants);
    next_at_ = has_begun_ && !is_set_back ? next_change_of_plans(now) : now;
    stepped_at_ = std::min(stepped_at_, now);
    has_begun_ = true;
}

Ns ClockKeeper::due() const {
    Ns due = next_at_.value_or(std::numeric_limits<Ns>::max());
    for (const Group &group : groups_)
        due = std::min(due, group.due);
    return due;
}

std::vector<WindowOrder> ClockKeeper::step(Ns now) {
    std::vector<WindowOrder> orders;
    stepped_at_ = now;
    if (next_at_ && *next_at_ <= now) {
        const std::vector<std::uint32_t> before = gpus();
        take_next(now);
        const std::vector<std::uint32_t> after = gpus();
        for (const std::uint32_t gpu : before)
            if (std::ranges::count(after, gpu) == 0)
                orders.push_back({.gpu = gpu, .has_windows = false});
    }
    for (Group &group : groups_) {
        if (group.due > now)
            continue;
        const Row &row = group.plan.rows[row_at(group.plan, now)];
        for (const std::uint32_t gpu : gpus())
            if (group.is_on(gpu))
                orders.push_back(group.order_on(gpu, row));
        group.due = next_change(group.plan, now);
    }
    std::ranges::sort(orders, {}, &WindowOrder::gpu);
    return orders;
}

std::optional<Part> ClockKeeper::part_of(const std::string &tenant) const {
    std::optional<Part> part;
    for (const Group &group : groups_)
        for (std::size_t n = 0; n < group.tenants.size(); n++)
            if (group.tenants[n].name == tenant)
                part = std::max(part.value_or(0), part_in_windows(group.plan, n));
    return part;
}

std::optional<CycleWindows> ClockKeeper::windows_of(const std::string &tenant) const {
    std::optional<CycleWindows> found;
    for (const Group &group : groups_)
        for (std::size_t n = 0; n < group.tenants.size(); n++) {
            if (group.tenants[n].name != tenant)
                continue;
            CycleWindows one{.cycle = group.plan.length(), .gpus = group.tenants[n].gpus};
            Ns begin = 0;
            for (const Row &row : group.plan.rows) {
                const Ns end = begin + row.length;
                if (std::ranges::count(row.holders, n) > 0) {
                    if (!one.windows.empty() && one.windows.back().end == begin)
                        one.windows.back().end = end;
                    else
                        one.windows.push_back({begin, end});
                }
                begin = end;
            }
            if (!found || found->windows.empty())
                found = std::move(one);
        }
    return found;
}

void ClockKeeper::take_next(Ns now) {
    tenants_ = std::move(next_);
    next_at_.reset();
    groups_.clear();
    for (const std::vector<std::size_t> &numbers : clock_groups(tenants_)) {
        Group group{.tenants = {}, .plan = {}, .due = now};
        for (const std::size_t n : numbers)
            group.tenants.push_back(tenants_[n]);
        group.plan = plan_by_clock(group.tenants, settings_, now);
        if (!group.plan.rows.empty())
            groups_.push_back(std::move(group));
    }
}

std::vector<std::uint32_t> ClockKeeper::gpus() const {
    std::vector<std::uint32_t> gpus;
    for (const GangTenant &tenant : tenants_)
        for (const std::uint32_t gpu : tenant.gpus)
            if (std::ranges::any_of(groups_, [&](const Group &group) { return group.is_on(gpu); }))
                gpus.push_back(gpu);
    std::ranges::sort(gpus);
    gpus.erase(std::unique(gpus.begin(), gpus.end()), gpus.end());
    return gpus;
}

/// Returns whether the GPU is one of the group. A tenant of one node may have GPUs beside these.
bool ClockKeeper::Group::is_on(std::uint32_t gpu) const {
    return std::ranges::any_of(tenants, [&](const GangTenant &tenant) {
        return tenant.is_on_other_nodes && tenant.is_on(gpu);
    });
}

WindowOrder ClockKeeper::Group::order_on(std::uint32_t gpu, const Row &row) const {
    const WindowSettings settings;
    WindowOrder order{.gpu = gpu, .has_windows = true};
    for (std::size_t n = 0; n < tenants.size(); n++) {
        if (!tenants[n].is_on(gpu))
            continue;
        const WindowLever lever = lever_in(tenants, row, n, gpu, settings);
        const bool holds_back = lever.paused || lever.timeslice.value_or(0) == settings.other_slice;
        (holds_back ? order.then : order.first).push_back({tenants[n].name, lever});
    }
    return order;
}

} // namespace qos
