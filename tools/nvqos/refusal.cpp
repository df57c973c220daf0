// SPDX-License-Identifier: MIT OR GPL-2.0
#include "refusal.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "lib/base/printable.hpp"
#include "lib/base/process.hpp"
#include "lib/base/quantity.hpp"
#include "lib/base/task_name.hpp"
#include "lib/base/words.hpp"
#include "lib/qos/clock_plan.hpp"

namespace nvqos {

using nvdebug::base::printable;
using qos::Ns;

namespace {

/// Returns the promises, as `serve (share 60 %), training (share 45 %)`.
std::string promises_of(const Goals &goals) {
    constexpr std::size_t most = 8;
    std::string text;
    std::size_t count = 0;
    for (const Tenant &tenant : goals.tenants)
        if (qos::is_promised(tenant.goal.aim) && ++count <= most)
            text += fmt::format("{}{} ({})", count > 1 ? ", " : "", printable(tenant.name),
                                text_of(tenant.goal));
    if (qos::is_promised(goals.others.aim) && ++count <= most)
        text += fmt::format("{}the others ({})", count > 1 ? ", " : "", text_of(goals.others));
    return count > most ? text + fmt::format(" and {} more", count - most) : text;
}

} // namespace

namespace {

using Names = std::vector<std::string>;

std::string name_of(const Goals &goals, std::size_t tenant) {
    return tenant < goals.tenants.size() ? printable(goals.tenants[tenant].name) : "others";
}

const qos::Goal &goal_at(const Goals &goals, std::size_t tenant) {
    return tenant < goals.tenants.size() ? goals.tenants[tenant].goal : goals.others;
}

/// Returns `a`, `a and b`, or of many the first ones and how many more there are.
std::string some_of(Names names) {
    constexpr std::size_t most = 4;
    if (names.size() > most) {
        const std::size_t more = names.size() - most + 1;
        names.resize(most - 1);
        names.push_back(fmt::format("{} more", more));
    }
    return nvdebug::base::listed(names, " and ");
}

void add_name(Names &names, std::string name) {
    if (std::ranges::find(names, name) == names.end())
        names.push_back(std::move(name));
}

/// Returns the sentence on tenants that are served first in the time which promises leave, and on
/// how long their requests wait if they always have work.
std::string sentence_on_time(const Goals &goals, const std::vector<qos::Dependence> &all) {
    Names promised, served;
    qos::Ns turn = 0;
    for (const qos::Dependence &one : all) {
        const qos::Goal &goal = goal_at(goals, one.on);
        add_name(promised, fmt::format("{} ({} {})", name_of(goals, one.on),
                                       goal.aim == qos::Aim::share ? "share" : "speed",
                                       percent_of(goal.part)));
        add_name(served, name_of(goals, one.tenant));
        turn = std::max(turn, one.turn);
    }
    const bool are_many = served.size() > 1;
    return fmt::format(
        "{} {} served first for at most {:.0f} % of the time, because {} {} promised "
        "{}; where {} work for longer than that, requests wait for turns of up to "
        "{:.3g} ms",
        some_of(served), are_many ? "are" : "is",
        static_cast<double>(all.front().room) / static_cast<double>(qos::point), some_of(promised),
        promised.size() > 1 ? "are" : "is", promised.size() > 1 ? "their parts" : "its part",
        are_many ? "they have" : "it has", qos::milliseconds(turn));
}

/// Returns the sentence on requests of a tenant that wait for another one's turns.
std::string sentence_on_turns(const Goals &goals, const qos::Dependence &one) {
    const qos::Goal &on = goal_at(goals, one.on);
    const std::string tenant = name_of(goals, one.tenant), other = name_of(goals, one.on);
    const std::string turn = nvdebug::base::short_time(one.turn, " ");
    if (on.aim == qos::Aim::latency)
        return fmt::format("{} and {} are both served first: each waits for turns of the other, up "
                           "to {}; with a share in place of latency one of them waits alone",
                           tenant, other, turn);
    if (on.aim == qos::Aim::timeslice)
        return fmt::format("requests of {} wait for turns of {}, which are {} whatever the "
                           "others have; a shorter timeslice makes that shorter",
                           tenant, other, turn);
    return fmt::format("requests of {} wait for turns of {} up to {}, and are to end within "
                       "{:g} ms: ask for a longer time",
                       tenant, other, turn, qos::milliseconds(goal_at(goals, one.tenant).p99));
}

} // namespace

std::string refusal_of(const qos::Conflict &conflict, const Goals &goals) {
    using Why = qos::Conflict::Why;
    const std::string name = conflict.tenant < goals.tenants.size()
                                 ? printable(goals.tenants[conflict.tenant].name)
                                 : "the others";
    switch (conflict.why) {
    case Why::sum:
        if (conflict.asked == 0)
            return fmt::format(
                "the timeslices that are asked for, with {:g} us for each switch, do not "
                "fit into a round of {:g} ms, the longest for this epoch; set shorter "
                "ones, or a longer --epoch",
                static_cast<double>(qos::Costs().change) / 1000, qos::milliseconds(conflict.round));
        return fmt::format(
            "shares and speeds add up to {}, and at most {} can be promised: {}. In a round of "
            "{:g} "
            "ms, the longest for this epoch, {} turns with {:g} us for each switch and the turns "
            "of tasks without a promise take the rest; ask for less, or for a longer --epoch",
            percent_of(conflict.asked), percent_of(conflict.possible), promises_of(goals),
            qos::milliseconds(conflict.round), conflict.turns,
            static_cast<double>(qos::Costs().change) / 1000);
    case Why::below_part:
        return fmt::format("{}: a cap of {} is below the {} that it is promised", name,
                           percent_of(conflict.possible), percent_of(conflict.asked));
    case Why::too_small:
        return fmt::format("{}: a cap of {} is less than the {} of an epoch that a pause and its "
                           "end take; ask for "
                           "more, or for a longer --epoch",
                           name, percent_of(conflict.asked), percent_of(conflict.possible));
    default:
        return fmt::format("an epoch of {:g} ms is too short: a pause and its end take {:g} ms, so "
                           "that the shortest "
                           "is {:g} ms",
                           qos::milliseconds(conflict.asked),
                           qos::milliseconds(2 * qos::Costs().pause),
                           qos::milliseconds(conflict.possible));
    }
}

namespace {

/// Returns a sentence for each tenant of this node whose goal cannot be kept beside windows by the
/// clock, as if all tenants shared one GPU.
/// @param entrants by tenant; the tasks without a tenant may be missing
std::vector<std::string> refusals_by_clock(const Goals &goals,
                                           std::span<const qos::Entrant> entrants) {
    std::vector<qos::GangTenant> tenants;
    Names of_nodes;
    for (std::size_t n = 0; n < entrants.size(); n++) {
        const bool is_elsewhere = n < goals.tenants.size() && goals.tenants[n].gang == Gang::nodes;
        tenants.push_back({.name = fmt::format("{:06}", n),
                           .gpus = {0},
                           .goal = entrants[n].goal,
                           .is_on_other_nodes = is_elsewhere});
        if (is_elsewhere)
            of_nodes.push_back(name_of(goals, n));
    }
    std::vector<std::string> sentences;
    for (const std::vector<std::size_t> &group : qos::clock_groups(tenants)) {
        std::vector<qos::GangTenant> members;
        for (const std::size_t n : group)
            members.push_back(tenants[n]);
        const qos::WindowPlan plan = qos::plan_by_clock(members, {}, 0);
        const auto are_short = qos::short_of_windows(members, plan);
        for (std::size_t n = 0; n < members.size(); n++) {
            const qos::Goal &goal = members[n].goal;
            const bool is_short =
                qos::is_promised(goal.aim) && std::ranges::count(are_short, n) > 0;
            if (members[n].is_on_other_nodes || (!is_short && goal.aim != qos::Aim::timeslice))
                continue;
            sentences.push_back(fmt::format(
                "{} ({}) cannot be kept beside {} (gang=nodes): of the time on {} GPUs, windows by "
                "the clock leave {} to tenants of one node, and they set timeslices; ask for "
                "best-effort, or for other GPUs",
                name_of(goals, group[n]), text_of(goal), some_of(of_nodes),
                of_nodes.size() > 1 ? "their" : "its", percent_of(qos::part_in_windows(plan, n))));
        }
    }
    return sentences;
}

} // namespace

std::vector<std::string> refusals_of(const Goals &goals, std::vector<qos::Entrant> entrants) {
    for (std::size_t n = 0; n < goals.tenants.size(); n++)
        entrants[n].tsgs = std::max<std::int64_t>(entrants[n].tsgs, 1);
    if (entrants.back().tsgs == 0)
        entrants.pop_back();
    std::vector<std::string> sentences;
    for (const qos::Conflict &conflict : qos::conflicts(entrants, goals.settings))
        sentences.push_back(refusal_of(conflict, goals));
    std::ranges::move(refusals_by_clock(goals, entrants), std::back_inserter(sentences));
    return sentences;
}

namespace {

/// Returns each tenant with one task, and the others with @p others.
std::vector<qos::Entrant> entrants_of(const Goals &goals, std::int64_t others) {
    std::vector<qos::Entrant> entrants;
    for (const Tenant &tenant : goals.tenants)
        entrants.push_back({tenant.goal, 1});
    entrants.push_back({goals.others, others});
    return entrants;
}

} // namespace

std::vector<std::string> refusals_of(const Goals &goals) {
    return refusals_of(goals, entrants_of(goals, 0));
}

std::vector<qos::GangTenant> gang_tenants(const std::string &name, const qos::Goal &goal,
                                          bool is_gang, const std::vector<std::uint32_t> &gpus) {
    if (is_gang)
        return {{.name = name, .gpus = gpus, .goal = goal}};
    std::vector<qos::GangTenant> ranks;
    for (const std::uint32_t gpu : gpus)
        ranks.push_back({.name = name, .gpus = {gpu}, .goal = goal});
    return ranks;
}

std::optional<std::string> refusal_of_clash(std::span<const qos::GangTenant> tenants) {
    const std::vector<std::size_t> heaviest = qos::heaviest_clash(tenants);
    if (heaviest.size() < 2 || std::ranges::any_of(tenants[heaviest.front()].gpus, [&](auto gpu) {
            return std::ranges::all_of(heaviest,
                                       [&](std::size_t n) { return tenants[n].is_on(gpu); });
        }))
        return std::nullopt;
    Goals goals;
    Names names;
    for (const std::size_t n : heaviest) {
        goals.tenants.push_back({.name = tenants[n].name, .who = {}, .goal = tenants[n].goal});
        names.push_back(printable(tenants[n].name));
    }
    const auto refusals = refusals_of(goals);
    if (refusals.empty())
        return std::nullopt;
    return fmt::format("each two of the jobs {} share a GPU, so that no two of them run at the "
                       "same time: {}",
                       nvdebug::base::listed(names, ", "), refusals.front());
}

std::vector<std::string> conditions_of(const Goals &goals) {
    std::vector<std::string> sentences;
    std::vector<qos::Dependence> on_time;
    for (const qos::Dependence &one : qos::dependences(entrants_of(goals, 1), goals.settings)) {
        const bool is_said = one.on < one.tenant && goal_at(goals, one.on).aim == qos::Aim::latency;
        if (one.why == qos::Dependence::Why::time)
            on_time.push_back(one);
        else if (!is_said) // two services wait for each other, and one sentence names both
            sentences.push_back(sentence_on_turns(goals, one));
    }
    if (!on_time.empty())
        sentences.insert(sentences.begin(), sentence_on_time(goals, on_time));
    return sentences;
}

std::string sentence_on_nobody(const Tenant &tenant) {
    std::string sentence = printable(tenant.name) + ": no task fits yet";
    if (tenant.who.cgroup && nvdebug::base::is_cgroup(*tenant.who.cgroup) == false)
        sentence += fmt::format("; there is no cgroup {} now", printable(*tenant.who.cgroup));
    if (tenant.who.cgroup && !nvdebug::base::has_first_cgroup_namespace())
        sentence +=
            "; this nvqos may name cgroups in another way than the host, because it is in a "
            "container without the host's pids or without SYS_ADMIN and SYS_PTRACE: name "
            "the tenant by its pod or container";
    if (tenant.who.command && tenant.who.command->starts_with('/'))
        sentence += "; names of commands mostly have no folder: see 'nvdebugctl task list'";
    return sentence;
}

} // namespace nvqos
