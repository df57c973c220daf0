// SPDX-License-Identifier: MIT OR GPL-2.0
#include "clock_windows.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "random.hpp"

namespace simulation {
namespace {

bool is_on_several_nodes(const Scenario &scenario, const Job &job) {
    return job.gang && std::ranges::any_of(job.gpus, [&](std::size_t gpu) {
               return scenario.gpus.node_of(gpu) != scenario.gpus.node_of(job.gpus.front());
           });
}

} // namespace

std::vector<Ns> clocks_ahead(const Gpus &gpus, std::uint64_t seed) {
    std::vector<Ns> ahead;
    for (std::size_t node = 0; node < gpus.nodes; node++)
        ahead.push_back(Random(seed, "", Random::Purpose::clocks, node).below(gpus.skew + 1));
    return ahead;
}

/// Returns the name of a job's tenant. Ranks of no gang do not wait for each other, so each of them
/// is a tenant.
std::string ClockWindows::tenant_of(std::size_t job, std::size_t gpu) const {
    const Job &one = scenario_.jobs[job];
    return one.gang ? one.name : fmt::format("{}\n{:02}", one.name, gpu);
}

void ClockWindows::begin(const std::vector<Task> &tasks) {
    for (const Ns ahead : clocks_ahead(scenario_.gpus, scenario_.seed))
        nodes_.push_back({.ahead = ahead});
    std::vector<std::map<std::string, qos::GangTenant>> tenants(nodes_.size());
    for (std::size_t task = 0; task < tasks.size(); task++) {
        const auto &[job, gpu] = tasks[task];
        const Job &one = scenario_.jobs[job];
        levers_.push_back(
            {.timeslice = one.timeslice_us.value_or(scenario_.gpus.timeslice_us) * qos::us});
        const std::size_t node = scenario_.gpus.node_of(gpu);
        const std::string name = tenant_of(job, gpu);
        qos::GangTenant &tenant = tenants[node][name];
        tenant.name = name;
        tenant.gpus.push_back(static_cast<std::uint32_t>(gpu));
        tenant.goal = one.goal;
        tenant.is_on_other_nodes = is_on_several_nodes(scenario_, one);
        nodes_[node].tasks[{name, tenant.gpus.back()}] = task;
    }
    for (std::size_t node = 0; node < nodes_.size(); node++) {
        Node &one = nodes_[node];
        one.keeper = qos::ClockKeeper(qos::ClockSettings{.request = scenario_.gpus.request});
        std::vector<qos::GangTenant> all;
        for (auto &[name, tenant] : tenants[node])
            all.push_back(std::move(tenant));
        one.keeper.set_tenants(std::move(all), one.ahead);
    }
}

Ns ClockWindows::due() const {
    Ns due = never;
    for (const Node &node : nodes_)
        if (node.keeper.due() != never)
            due = std::min(due, node.keeper.due() - node.ahead);
    return due;
}

void ClockWindows::step(Ns now, Driver &driver) {
    for (Node &node : nodes_) {
        if (node.keeper.due() > now + node.ahead)
            continue;
        const std::vector<qos::WindowOrder> orders = node.keeper.step(now + node.ahead);
        for (const auto half : {&qos::WindowOrder::first, &qos::WindowOrder::then})
            for (const qos::WindowOrder &order : orders)
                for (const qos::TenantLever &one : order.*half)
                    carry(node.tasks.at({one.tenant, order.gpu}), one.lever, driver);
    }
}

/// Asks for a lever as far as it is not asked for yet. A task has its timeslice before it goes on,
/// and is stopped before it loses it.
void ClockWindows::carry(std::size_t task, const qos::WindowLever &lever, Driver &driver) {
    if (!driver.is_alive(task))
        return;
    LeverOfTask &present = levers_[task];
    const auto pause = [&](bool paused) {
        if (std::exchange(present.paused, paused) != paused)
            driver.ask({task, paused ? Request::What::pause : Request::What::resume});
    };
    if (lever.paused)
        pause(true);
    if (lever.timeslice && present.timeslice != *lever.timeslice) {
        driver.ask({task, Request::What::timeslice, *lever.timeslice / qos::us});
        present.timeslice = *lever.timeslice;
    }
    if (!lever.paused)
        pause(false);
}

/// Returns the part of the time in which a job has its windows; empty: it is in no group with windows.
std::optional<Part> ClockWindows::part_of(std::size_t job) const {
    const std::size_t gpu = scenario_.jobs[job].gpus.front();
    return nodes_[scenario_.gpus.node_of(gpu)].keeper.part_of(tenant_of(job, gpu));
}

std::string ClockWindows::why(std::size_t job) const {
    if (!part_of(job))
        return "";
    const Job &one = scenario_.jobs[job];
    if (one.goal.aim == qos::Aim::latency)
        return "served first on all of its GPUs at once";
    if (!has_windows(job))
        return "has only the time that jobs of several nodes leave";
    std::set<std::size_t> nodes;
    for (const std::size_t gpu : one.gpus)
        nodes.insert(scenario_.gpus.node_of(gpu));
    return nodes.size() > 1
               ? fmt::format("a gang, with windows by the clock on {} GPUs of {} nodes",
                             one.ranks(), nodes.size())
               : "has windows in the time that jobs of several nodes leave";
}

} // namespace simulation
