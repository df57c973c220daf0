// SPDX-License-Identifier: MIT OR GPL-2.0
#include "gangs.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace simulation {
namespace {

/// The set of tasks is looked at so often.
constexpr Ns between_looks = 100 * qos::ms;

void forget_turns(GangGroup &group) {
    for (GangMember &member : group.members)
        for (GangMember::Rank &rank : member.ranks) {
            rank.turns.clear();
            rank.had = {.gpu = rank.had.gpu};
            rank.gave_way = 0;
        }
}

/// Returns what the turns since the present state began say about the progress of each tenant.
std::vector<qos::TenantProgress> progress_of(const GangGroup &group, Ns now) {
    std::vector<qos::TenantProgress> all;
    for (const GangMember &member : group.members) {
        qos::TenantProgress one{.time = now - group.since, .used = never};
        std::vector<std::vector<qos::TurnSpan>> turns;
        for (const GangMember::Rank &rank : member.ranks) {
            one.gave_way = std::max(one.gave_way, rank.gave_way);
            one.used = std::min(one.used, rank.had.used);
            turns.push_back(rank.turns);
        }
        one.together_part = qos::together_of(turns).value_or(0);
        all.push_back(one);
    }
    return all;
}

/// Returns whether the tenant has its window in the present row; true without windows.
bool holds_window(const GangGroup &group, std::size_t tenant) {
    return !group.has_windows() ||
           std::ranges::count(group.plan.rows[group.row].holders, tenant) > 0;
}

/// Returns whether the others are paused on the GPU while the tenant has its window there.
bool is_alone_on(const GangGroup &group, std::size_t tenant, std::size_t gpu) {
    const auto number = static_cast<std::uint32_t>(gpu);
    const qos::Row own{.holders = {tenant}};
    for (std::size_t n = 0; n < group.tenants.size(); n++)
        if (n != tenant && group.tenants[n].is_on(number) && !group.tenants[n].is_first() &&
            !qos::lever_in(group.tenants, own, n, number, qos::WindowSettings()).paused)
            return false;
    return true;
}

/// Returns how long tenants that are served first had the GPU in turns that were not counted yet.
Ns used_by_services(const GangGroup &group, std::size_t gpu, const std::vector<ReadTurn> &turns) {
    Ns used = 0;
    for (std::size_t n = 0; n < group.members.size(); n++)
        for (const GangMember::Rank &rank : group.members[n].ranks)
            if (rank.gpu == gpu && group.tenants[n].is_first())
                for (const ReadTurn &seen : turns)
                    if (seen.turn.tsg == rank.task)
                        used += std::max<Ns>(0, seen.turn.end -
                                                    std::max(seen.turn.begin, group.counted_at));
    return used;
}

/// Returns whether windows have failed to keep a promise.
bool misses_promise(const GangGroup &group) {
    for (std::size_t n = 0; n < group.tenants.size(); n++)
        if (qos::is_promise_missed(group.tenants[n].goal, group.tenants[n].account,
                                   group.plan.parts[n], group.plan.length(), qos::WindowSettings()))
            return true;
    return false;
}

/// Counts the turns of a rank. Those from before the present state were not counted.
void count(const GangGroup &group, bool holds, GangMember::Rank &rank,
           const std::vector<ReadTurn> &turns) {
    for (const ReadTurn &seen : turns) {
        if (seen.turn.tsg != rank.task || seen.turn.end <= group.counted_at)
            continue;
        const Ns begin = std::max(seen.turn.begin, group.counted_at),
                 length = seen.turn.end - begin;
        rank.turns.push_back({begin, seen.turn.end});
        rank.had.used += length;
        rank.had.used_in += holds ? length : 0;
        rank.gave_way += holds && seen.gave_way;
    }
}

bool is_same(const GangGroup &a, const GangGroup &b) {
    return std::ranges::equal(a.tenants, b.tenants, [](const auto &one, const auto &other) {
        return one.name == other.name && one.gpus == other.gpus;
    });
}

} // namespace

void Gangs::begin(const std::vector<Task> &tasks) {
    tasks_ = tasks;
    in_windows_.resize(scenario_.jobs.size());
    why_.resize(scenario_.jobs.size());
    for (const Job &job : scenario_.jobs)
        has_gangs_ = has_gangs_ || (job.gang && job.ranks() > 1);
    if (!has_gangs_)
        return;
    for (Keeper &keeper : keepers_)
        keeper.keep_turns();
}

std::vector<GangGroup> Gangs::find_groups() const {
    std::vector<qos::GangTenant> tenants;
    std::vector<GangMember> members;
    std::vector<std::vector<GangMember::Rank>> ranks(scenario_.jobs.size());
    for (std::size_t gpu = 0; gpu < keepers_.size(); gpu++)
        for (const std::size_t task : keepers_[gpu].held())
            ranks[tasks_[task].job].push_back(
                {.task = task, .gpu = gpu, .had = {.gpu = static_cast<std::uint32_t>(gpu)}});
    const auto add = [&](std::size_t job, std::string name, std::vector<GangMember::Rank> those) {
        qos::GangTenant tenant{
            .name = std::move(name), .gpus = {}, .goal = scenario_.jobs[job].goal};
        for (const GangMember::Rank &rank : those)
            tenant.gpus.push_back(static_cast<std::uint32_t>(rank.gpu));
        tenants.push_back(std::move(tenant));
        members.push_back({job, std::move(those)});
    };
    for (std::size_t job = 0; job < ranks.size(); job++) {
        const Job &one = scenario_.jobs[job];
        if (!one.gang) // its ranks do not wait for each other
            for (const GangMember::Rank &rank : ranks[job])
                add(job, fmt::format("{}\n{:02}", one.name, rank.gpu), {rank});
        else if (!ranks[job].empty())
            add(job, one.name, std::move(ranks[job]));
    }
    std::vector<GangGroup> groups;
    for (const std::vector<std::size_t> &numbers : qos::window_groups(tenants)) {
        GangGroup &group = groups.emplace_back();
        for (const std::size_t number : numbers) {
            for (const std::uint32_t gpu : tenants[number].gpus)
                group.gpus.push_back(gpu);
            group.tenants.push_back(std::move(tenants[number]));
            group.members.push_back(std::move(members[number]));
        }
        std::ranges::sort(group.gpus);
        const auto [first, last] = std::ranges::unique(group.gpus);
        group.gpus.erase(first, last);
    }
    return groups;
}

/// Takes note of tasks that have come or gone. A group with a tenant that had windows has them at
/// once; a tenant keeps its account.
void Gangs::regroup(Ns now, Driver &driver) {
    looked_at_ = now;
    std::vector<GangGroup> groups = find_groups();
    for (std::size_t gpu = 0; gpu < keepers_.size(); gpu++)
        if (std::ranges::none_of(groups_, [&](const GangGroup &group) {
                return std::ranges::count(group.gpus, gpu) > 0;
            }))
            keepers_[gpu].take_recent(); // nobody counts them
    if (std::ranges::equal(groups, groups_, is_same))
        return;
    for (GangGroup &group : groups_)
        if (std::ranges::none_of(groups,
                                 [&](const GangGroup &one) { return is_same(one, group); }) &&
            group.has_windows())
            note_windows(group, false, now);
    std::vector<GangGroup> before = std::exchange(groups_, {});
    for (GangGroup &group : groups) {
        bool had_windows = false;
        const auto same =
            std::ranges::find_if(before, [&](const GangGroup &one) { return is_same(one, group); });
        if (same != before.end()) {
            groups_.push_back(std::move(*same));
            same->gpus.clear();
            continue;
        }
        for (const GangGroup &old : before)
            for (const qos::GangTenant &tenant : old.tenants)
                for (qos::GangTenant &one : group.tenants)
                    if (one.name == tenant.name) {
                        one.account = tenant.account;
                        had_windows = had_windows || old.has_windows();
                    }
        groups_.push_back(std::move(group));
        const bool goes_on = had_windows && !qos::are_windows_barred(groups_.back().tenants);
        enter(groups_.back(), goes_on ? GangGroup::State::windows : GangGroup::State::watched, now,
              driver);
        groups_.back().stands_for = qos::trial_of_windows;
    }
    // GPUs that no group has any more are left to their governors.
    for (const GangGroup &old : before) {
        if (!old.has_windows())
            continue;
        GangGroup rest = old;
        std::erase_if(rest.gpus, [&](std::size_t gpu) {
            return std::ranges::any_of(groups_, [&](const GangGroup &group) {
                return std::ranges::count(group.gpus, gpu) > 0 && group.has_windows();
            });
        });
        restore(rest, driver);
        for (const std::size_t gpu : rest.gpus)
            keepers_[gpu].set_carried(false, now);
    }
}

bool Gangs::is_busy(const GangGroup &group) const {
    return std::ranges::any_of(group.gpus,
                               [&](std::size_t gpu) { return keepers_[gpu].has_open_requests(); });
}

Ns Gangs::due_of(const GangGroup &group) const {
    if (is_busy(group))
        return never;
    if (group.has_windows())
        return qos::next_change(group.plan, group.counted_at);
    const bool stands =
        group.state == GangGroup::State::left && group.need != qos::WindowNeed::none;
    return group.since + (stands ? group.stands_for : qos::watch_before_windows);
}

Ns Gangs::due() const {
    if (!has_gangs_)
        return never;
    Ns due = looked_at_ + between_looks;
    for (const GangGroup &group : groups_)
        due = std::min(due, due_of(group));
    return due;
}

void Gangs::step(Ns now, Driver &driver) {
    if (now >= looked_at_ + between_looks)
        regroup(now, driver);
    for (GangGroup &group : groups_)
        if (due_of(group) <= now)
            group.has_windows() ? step_windows(group, now, driver) : judge(group, now, driver);
}

/// Counts the turns since the last call. With windows they are of one row.
void Gangs::count_turns(GangGroup &group, Ns now, Driver &driver) {
    for (const std::size_t gpu : group.gpus) {
        keepers_[gpu].read(driver);
        const std::vector<ReadTurn> turns = keepers_[gpu].take_recent();
        const Ns taken = used_by_services(group, gpu, turns);
        for (std::size_t n = 0; n < group.members.size(); n++)
            for (GangMember::Rank &rank : group.members[n].ranks)
                if (rank.gpu == gpu) {
                    count(group, holds_window(group, n), rank, turns);
                    rank.had.taken += holds_window(group, n) ? taken : 0;
                }
    }
    for (std::size_t n = 0; n < group.members.size(); n++)
        for (GangMember::Rank &rank : group.members[n].ranks)
            rank.had.held += holds_window(group, n) ? now - group.counted_at : 0;
    group.counted_at = now;
}

void Gangs::enter(GangGroup &group, GangGroup::State state, Ns now, Driver &driver) {
    const bool had_windows = group.has_windows();
    group.state = state;
    group.since = group.counted_at = now;
    group.stands_for = qos::between_trials;
    if (!group.has_windows())
        for (qos::GangTenant &tenant : group.tenants)
            tenant.account.owed.clear(); // governors begin without debts, too
    forget_turns(group);
    for (const std::size_t gpu : group.gpus)
        keepers_[gpu].set_carried(group.has_windows(), now);
    if (group.has_windows()) {
        group.plan = qos::plan_windows(group.tenants, qos::WindowSettings(), now);
        group.row = 0;
        if (!had_windows) {
            // Caps were used until now, so that their windows begin with the next cycle.
            for (qos::Row &row : group.plan.rows)
                std::erase_if(row.holders,
                              [&](std::size_t n) { return group.tenants[n].goal.cap.has_value(); });
            note_windows(group, true, now);
        }
        ask_for_row(group, driver);
    } else if (had_windows) {
        note_windows(group, false, now);
        restore(group, driver);
    }
    for (std::size_t n = 0; n < group.members.size(); n++)
        why_[group.members[n].job] = reason(group, n);
}

/// Decides whether windows are to be tried, or looks at the choice again.
void Gangs::judge(GangGroup &group, Ns now, Driver &driver) {
    count_turns(group, now, driver);
    if (group.state == GangGroup::State::left && group.need != qos::WindowNeed::none)
        return enter(group, GangGroup::State::watched, now, driver);
    group.before = progress_of(group, now);
    group.plan = qos::plan_windows(group.tenants, qos::WindowSettings(), now);
    group.need = qos::need_for_windows(group.tenants, group.before, group.plan);
    enter(group,
          group.need == qos::WindowNeed::clear ? GangGroup::State::tried : GangGroup::State::left,
          now, driver);
}

void Gangs::step_windows(GangGroup &group, Ns now, Driver &driver) {
    count_turns(group, now, driver);
    const Ns end = group.plan.begin + group.plan.length();
    if (now >= end) {
        if (group.state == GangGroup::State::tried && now - group.since >= qos::trial_of_windows) {
            const auto change =
                qos::change_by_windows(group.tenants, group.before, progress_of(group, now));
            if (!qos::do_windows_help(change))
                return enter(group, GangGroup::State::left, now, driver);
            group.state = GangGroup::State::windows;
            group.since = now;
        } else if (group.state == GangGroup::State::windows &&
                   now - group.since >= group.stands_for) {
            return enter(group, GangGroup::State::watched, now, driver);
        }
        settle(group);
        if (misses_promise(group)) {
            group.need = qos::WindowNeed::unkept;
            return enter(group, GangGroup::State::left, now, driver);
        }
        const Ns late = now - end;
        group.plan = qos::plan_windows(group.tenants, qos::WindowSettings(),
                                       late > qos::WindowSettings().shortest ? now : end);
    }
    group.row = qos::row_at(group.plan, now);
    ask_for_row(group, driver);
}

/// Settles the accounts of a cycle.
void Gangs::settle(GangGroup &group) {
    const Ns cycle = group.plan.length();
    for (std::size_t n = 0; n < group.members.size(); n++) {
        qos::GangTenant &tenant = group.tenants[n];
        std::vector<qos::RankWindows> contested;
        Ns own_time = 0;
        std::int64_t gave_way = 0;
        for (GangMember::Rank &rank : group.members[n].ranks) {
            const bool is_contested = std::ranges::any_of(group.tenants, [&](const auto &other) {
                return &other != &tenant && other.is_on(static_cast<std::uint32_t>(rank.gpu));
            });
            rank.had.is_alone = is_alone_on(group, n, rank.gpu);
            if (is_contested)
                contested.push_back(rank.had);
            own_time = std::max(own_time, rank.had.used_in);
            gave_way = std::max(gave_way, rank.gave_way);
        }
        const qos::WindowSettings settings;
        // Of a holder beside which the others were paused nobody sees that it gives way.
        if (group.state != GangGroup::State::tried && own_time > 0 &&
            tenant.account.gives_way <= settings.much_giving_way)
            tenant.account.gives_way +=
                (gave_way * qos::second / own_time - tenant.account.gives_way) / 16;
        tenant.account = qos::settled_windows(tenant.goal, tenant.account, group.plan.parts[n],
                                              contested, cycle, settings);
    }
    for (GangMember &member : group.members)
        for (GangMember::Rank &rank : member.ranks)
            rank.had = {.gpu = rank.had.gpu};
    if (group.state != GangGroup::State::tried)
        forget_turns(group);
}

/// Asks for the levers of the present row: first for all that lets its holders run, then for all
/// that holds the others back, on each GPU in turn. So a gang has its GPUs at once for longer, as
/// the first half changes nothing while the former holder has its long timeslice.
void Gangs::ask_for_row(GangGroup &group, Driver &driver) {
    if (group.plan.rows.empty())
        return;
    const qos::WindowSettings settings;
    const qos::Row &row = group.plan.rows[group.row];
    for (const bool is_first : {true, false})
        for (const std::size_t gpu : group.gpus)
            for (std::size_t n = 0; n < group.members.size(); n++)
                for (const GangMember::Rank &rank : group.members[n].ranks) {
                    if (rank.gpu != gpu)
                        continue;
                    const auto lever = qos::lever_in(group.tenants, row, n,
                                                     static_cast<std::uint32_t>(gpu), settings);
                    const bool holds_back =
                        lever.paused || lever.timeslice.value_or(0) == settings.other_slice;
                    if (holds_back != is_first)
                        keepers_[gpu].carry(rank.task, lever, driver);
                }
}

/// Ends the pauses of all tasks on the group's GPUs. Tasks of a governor that sets no timeslices get
/// the one back that they began with.
void Gangs::restore(const GangGroup &group, Driver &driver) {
    for (const std::size_t gpu : group.gpus)
        for (const std::size_t task : keepers_[gpu].held()) {
            qos::WindowLever lever;
            if (!keepers_[gpu].sets_timeslices())
                lever.timeslice = keepers_[gpu].first_timeslice(task);
            keepers_[gpu].carry(task, lever, driver);
        }
}

void Gangs::note_windows(const GangGroup &group, bool begin, Ns now) {
    for (const GangMember &member : group.members) {
        auto &stretches = in_windows_[member.job];
        if (begin)
            stretches.push_back({now, never});
        else if (!stretches.empty() && stretches.back().end == never)
            stretches.back().end = now;
    }
}

Ns Gangs::time_in_windows(std::size_t job, Ns begin, Ns end) const {
    Ns time = 0;
    for (const Stretch &one : in_windows_[job])
        time += std::max<Ns>(0, std::min(one.end, end) - std::max(one.begin, begin));
    return time;
}

std::string Gangs::reason(const GangGroup &group, std::size_t tenant) const {
    const qos::GangTenant &one = group.tenants[tenant];
    if (one.gpus.size() < 2)
        return "";
    const auto percent = [](qos::Part part) { return (part + qos::point / 2) / qos::point; };
    if (group.has_windows())
        return one.is_first() ? "a gang that is served first on all of its GPUs at once"
                              : fmt::format("a gang, with windows on {} GPUs", one.gpus.size());
    if (group.state == GangGroup::State::watched)
        return "";
    const qos::TenantProgress &before = group.before[tenant];
    switch (group.need) {
    case qos::WindowNeed::none:
        return fmt::format("left as it is, because it runs together for {} % of its time",
                           percent(before.together_part));
    case qos::WindowNeed::barred:
        return "left as it is, because timeslice goals and services that are capped or among "
               "themselves bar windows";
    case qos::WindowNeed::unkept:
        return "left as it is, because windows did not keep a share beside what is served first";
    case qos::WindowNeed::clear:
        return "left as it is, because a trial of windows made the jobs slower";
    case qos::WindowNeed::harmful:
        return fmt::format(
            "left as it is, because windows would be {} % of the time, and it has {} %",
            percent(qos::part_in_windows(group.plan, tenant)),
            percent(qos::scaled(before.used, qos::whole, before.time)));
    }
    return "";
}

} // namespace simulation
