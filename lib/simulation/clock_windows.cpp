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

void ClockWindows::begin(const std::vector<Task> &tasks) {
    for (const Task &task : tasks)
        levers_.push_back({.gpu = task.gpu,
                           .timeslice = scenario_.jobs[task.job].timeslice_us.value_or(
                                            scenario_.gpus.timeslice_us) *
                                        qos::us});
    const std::vector<Ns> ahead = clocks_ahead(scenario_.gpus, scenario_.seed);
    for (std::size_t node = 0; node < ahead.size(); node++)
        add_groups_of(node, ahead[node], tasks);
}

void ClockWindows::add_groups_of(std::size_t node, Ns ahead, const std::vector<Task> &tasks) {
    std::vector<qos::GangTenant> tenants;
    std::vector<Member> members;
    const auto add = [&](std::size_t job, const std::string &name, std::size_t task) {
        const auto at = std::ranges::find(tenants, name, &qos::GangTenant::name);
        const auto n = static_cast<std::size_t>(at - tenants.begin());
        if (at == tenants.end()) {
            tenants.push_back(
                {.name = name,
                 .gpus = {},
                 .goal = scenario_.jobs[job].goal,
                 .is_on_other_nodes = is_on_several_nodes(scenario_, scenario_.jobs[job])});
            members.push_back({.job = job, .tasks = {}});
        }
        tenants[n].gpus.push_back(static_cast<std::uint32_t>(tasks[task].gpu));
        members[n].tasks.push_back(task);
    };
    for (std::size_t task = 0; task < tasks.size(); task++) {
        const auto &[job, gpu] = tasks[task];
        const Job &one = scenario_.jobs[job];
        if (scenario_.gpus.node_of(gpu) == node) // ranks of no gang do not wait for each other
            add(job, one.gang ? one.name : fmt::format("{}\n{:02}", one.name, gpu), task);
    }
    for (const std::vector<std::size_t> &numbers : qos::clock_groups(tenants)) {
        Group &group = groups_.emplace_back(Group{.ahead = ahead});
        for (const std::size_t n : numbers) {
            group.gpus.insert(group.gpus.end(), tenants[n].gpus.begin(), tenants[n].gpus.end());
            group.tenants.push_back(tenants[n]);
            group.members.push_back(members[n]);
        }
        std::ranges::sort(group.gpus);
        const auto [first, last] = std::ranges::unique(group.gpus);
        group.gpus.erase(first, last);
        const qos::ClockSettings settings{.request = scenario_.gpus.request};
        group.plan = qos::plan_by_clock(group.tenants, settings, ahead);
        group.due = group.plan.rows.empty() ? never : 0;
    }
}

Ns ClockWindows::due() const {
    Ns due = never;
    for (const Group &group : groups_)
        due = std::min(due, group.due);
    return due;
}

void ClockWindows::step(Ns now, Driver &driver) {
    for (Group &group : groups_)
        if (group.due <= now) {
            ask_for_row(group, now + group.ahead, driver);
            group.due = qos::next_change(group.plan, now + group.ahead) - group.ahead;
        }
}

/// Asks for levers in the order of Gangs::ask_for_row().
void ClockWindows::ask_for_row(const Group &group, Ns now, Driver &driver) {
    const qos::WindowSettings settings;
    const qos::Row &row = group.plan.rows[qos::row_at(group.plan, now)];
    for (const bool is_first : {true, false})
        for (const std::uint32_t gpu : group.gpus)
            for (std::size_t n = 0; n < group.members.size(); n++) {
                if (!group.tenants[n].is_on(gpu))
                    continue;
                const auto lever = qos::lever_in(group.tenants, row, n, gpu, settings);
                const bool holds_back =
                    lever.paused || lever.timeslice.value_or(0) == settings.other_slice;
                if (holds_back == is_first)
                    continue;
                for (const std::size_t task : group.members[n].tasks)
                    if (levers_[task].gpu == gpu)
                        carry(task, lever, driver);
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

bool ClockWindows::has_windows(std::size_t job) const {
    return std::ranges::any_of(groups_, [&](const Group &group) {
        for (std::size_t n = 0; n < group.members.size(); n++)
            if (group.members[n].job == job && qos::part_in_windows(group.plan, n) > 0)
                return true;
        return false;
    });
}

std::string ClockWindows::why(std::size_t job) const {
    const auto has_job = [&](const Group &group) {
        return std::ranges::find(group.members, job, &Member::job) != group.members.end();
    };
    if (std::ranges::none_of(groups_, has_job))
        return "";
    const std::vector<std::size_t> &gpus = scenario_.jobs[job].gpus;
    if (scenario_.jobs[job].goal.aim == qos::Aim::latency)
        return "served first on all of its GPUs at once";
    if (!has_windows(job))
        return "has only the time that jobs of several nodes leave";
    std::set<std::size_t> nodes;
    for (const std::size_t gpu : gpus)
        nodes.insert(scenario_.gpus.node_of(gpu));
    return nodes.size() > 1
               ? fmt::format("a gang, with windows by the clock on {} GPUs of {} nodes",
                             gpus.size(), nodes.size())
               : "has windows in the time that jobs of several nodes leave";
}

} // namespace simulation
