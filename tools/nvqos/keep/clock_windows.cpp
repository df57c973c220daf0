// SPDX-License-Identifier: MIT OR GPL-2.0
#include "clock_windows.hpp"

#include <fmt/format.h>
#include <limits>
#include <utility>

namespace nvqos {

using qos::Ns;

namespace {

/// Returns the end of the name of a rank that does not wait for others.
std::string end_on(std::uint32_t gpu) {
    return fmt::format("\n{:02}", gpu);
}

/// Returns `a gang of several nodes, with windows by the clock on 2 GPUs: from 0 to 60 of each 125
/// ms`. All nodes with the same plan have the same text, but for the number of GPUs.
std::string text_of(const qos::CycleWindows &of) {
    std::string text;
    for (const auto &[begin, end] : of.windows)
        text += fmt::format("{} {:g} to {:g}", text.empty() ? "from" : ",",
                            qos::milliseconds(begin), qos::milliseconds(end));
    return fmt::format(
        "a gang of several nodes, with windows by the clock on {} {}: {} of each {:g} ms",
        of.gpus.size(), of.gpus.size() == 1 ? "GPU" : "GPUs", text, qos::milliseconds(of.cycle));
}

} // namespace

void ClockWindows::set_tenants(const Tenants &tenants, bool is_usable) {
    std::map<std::string, qos::GangTenant> now;
    bool any = false;
    for (const auto &[gpu, on_gpu] : tenants)
        for (const qos::TenantOnGpu &one : on_gpu) {
            const std::string name = one.is_gang ? one.name : one.name + end_on(gpu);
            qos::GangTenant &tenant = now[name];
            tenant.name = name;
            tenant.gpus.push_back(gpu);
            tenant.goal = one.goal;
            tenant.is_on_other_nodes = one.is_on_other_nodes;
            any = any || one.is_on_other_nodes;
        }
    tenants_ = any && is_usable ? std::move(now) : decltype(now)();
    std::vector<qos::GangTenant> list;
    for (const auto &[name, tenant] : tenants_)
        list.push_back(tenant);
    keeper_.set_tenants(std::move(list), clock_.now());
}

Ns ClockWindows::wait() const {
    const Ns due = keeper_.due();
    constexpr Ns never = std::numeric_limits<Ns>::max();
    return due == never ? never : std::max<Ns>(0, due - clock_.now());
}

/// Gives the tenants in orders the names that they have on their GPU.
std::vector<qos::WindowOrder> ClockWindows::named(std::vector<qos::WindowOrder> orders) {
    for (qos::WindowOrder &order : orders)
        for (auto *const half : {&order.first, &order.then})
            for (qos::TenantLever &one : *half)
                if (const std::string end = end_on(order.gpu); one.tenant.ends_with(end))
                    one.tenant.resize(one.tenant.size() - end.size());
    return orders;
}

std::optional<qos::GangReport> ClockWindows::report(const std::string &tenant) const {
    const auto windows = keeper_.windows_of(tenant);
    const auto found = tenants_.find(tenant);
    if (!windows || found == tenants_.end())
        return std::nullopt;
    const qos::GangTenant &one = found->second;
    const bool has_windows = !windows->windows.empty();
    std::string why = "has only the time that tenants of several nodes leave";
    if (one.is_first())
        why = "served first on all of its GPUs at once";
    else if (one.is_on_other_nodes)
        why = text_of(*windows);
    else if (has_windows)
        why = "has windows in the time that tenants of several nodes leave";
    return qos::GangReport{has_windows || one.is_first(), {}, std::move(why)};
}

} // namespace nvqos
