// SPDX-License-Identifier: MIT OR GPL-2.0
#include "window_keeper.hpp"

#include <algorithm>
#include <utility>

namespace qos {
namespace {

using Group = WindowGroup;

/// Turns of groups without windows are counted so often, so that few turns have to be kept.
constexpr Ns between_counts = second;
/// A decision that needs the turns of all GPUs waits for so long until it is tried again.
constexpr Ns between_answers = 100 * ms;

void forget_turns(Group &group) {
    for (Group::Member &member : group.members)
        for (Group::Rank &rank : member.ranks) {
            rank.turns.clear();
            rank.had = {.gpu = rank.had.gpu};
            rank.gave_way = rank.gave_way_in = 0;
            rank.waited = 0;
            rank.waits_since.reset();
        }
}

std::optional<Part> together_in(const Group::Member &member) {
    std::vector<std::vector<TurnSpan>> turns;
    for (const Group::Rank &rank : member.ranks)
        turns.push_back(rank.turns);
    return together_of(turns);
}

void note_together(Group &group) {
    for (Group::Member &member : group.members)
        member.together = together_in(member);
}

/// Returns whether the tenant has its window in the present row; true without windows.
bool holds_window(const Group &group, std::size_t tenant) {
    return !group.has_windows() ||
           std::ranges::count(group.plan.rows[group.row].holders, tenant) > 0;
}

/// Returns the member with that name and a rank on the GPU.
std::optional<std::size_t> member_on(const Group &group, const std::string &name,
                                     std::uint32_t gpu) {
    for (std::size_t n = 0; n < group.members.size(); n++)
        if (group.members[n].name == name && group.tenants[n].is_on(gpu))
            return n;
    return std::nullopt;
}

Group::Rank &rank_on(Group::Member &member, std::uint32_t gpu) {
    return *std::ranges::find_if(member.ranks,
                                 [&](const auto &rank) { return rank.had.gpu == gpu; });
}

/// Counts the turns of a GPU. Those from before the present state were not counted. Turns that
/// come late are of an earlier row, so that the rank's present cycle is not whole.
void count_on(Group &group, const WindowTurns &on_gpu, Ns now) {
    Ns taken = 0; // by tenants that are served first
    for (const WindowTurn &turn : on_gpu.turns) {
        const auto n = member_on(group, turn.tenant, on_gpu.gpu);
        if (!n)
            continue;
        Group::Rank &rank = rank_on(group.members[*n], on_gpu.gpu);
        const Ns begin = std::max(turn.begin, rank.counted_until),
                 in_row = std::max<Ns>(0, turn.end - std::max(begin, group.counted_at));
        if (turn.end <= begin)
            continue;
        const bool holds = holds_window(group, *n);
        rank.turns.push_back({begin, turn.end});
        rank.had.used += turn.end - begin;
        rank.had.used_in += holds ? in_row : 0;
        rank.gave_way += turn.gave_way;
        rank.gave_way_in += holds && turn.gave_way;
        rank.waited += begin - rank.waits_since.value_or(begin);
        rank.waits_since = turn.gave_way ? std::nullopt : std::optional(turn.end);
        taken += group.tenants[*n].is_first() ? in_row : 0;
    }
    for (std::size_t n = 0; n < group.members.size(); n++)
        for (Group::Rank &rank : group.members[n].ranks) {
            if (rank.had.gpu != on_gpu.gpu)
                continue;
            rank.is_whole = rank.is_whole && rank.counted_until == group.counted_at;
            rank.counted_until = now;
            if (!holds_window(group, n))
                continue;
            rank.had.taken += taken;
            rank.had.held += now - group.counted_at;
        }
}

/// Counts the turns since the last call. With windows they are of one row.
void count(Group &group, std::span<const WindowTurns> turns, Ns now) {
    for (const WindowTurns &on_gpu : turns)
        if (std::ranges::binary_search(group.gpus, on_gpu.gpu))
            count_on(group, on_gpu, now);
    for (Group::Member &member : group.members)
        for (Group::Rank &rank : member.ranks)
            rank.is_whole = rank.is_whole && rank.counted_until == now;
    group.counted_at = now;
}

/// Returns whether the turns of all ranks until now have come.
bool is_counted(const Group &group, Ns now) {
    return std::ranges::all_of(group.members, [&](const Group::Member &member) {
        return std::ranges::all_of(
            member.ranks, [&](const Group::Rank &rank) { return rank.counted_until == now; });
    });
}

/// Returns whether all gangs were in step at the last look. Jobs that find into step by themselves
/// lose it for a moment now and then: of 19 seconds of two jobs with large all-reduces, which were
/// together for 99 % of the others, one had 60 % (gang_large.txt).
bool were_in_step(const Group &group) {
    constexpr Part in_step = 90 * point;
    return std::ranges::all_of(
        group.before, [](const TenantProgress &one) { return one.together_part >= in_step; });
}

bool is_same(const Group &a, const Group &b) {
    return std::ranges::equal(a.tenants, b.tenants, [](const auto &one, const auto &other) {
        return one.name == other.name && one.gpus == other.gpus && one.goal == other.goal;
    });
}

/// Returns the name of a rank that is a tenant of its own.
std::string name_on(const std::string &tenant, std::uint32_t gpu) {
    return tenant + "\n" + (gpu < 10 ? "0" : "") + std::to_string(gpu);
}

std::string percent(Part part) {
    return std::to_string((part + point / 2) / point) + " %";
}

std::string reason(const Group &group, std::size_t tenant) {
    const GangTenant &one = group.tenants[tenant];
    if (group.has_windows())
        return one.is_first()
                   ? "a gang that is served first on all of its GPUs at once"
                   : "a gang, with windows on " + std::to_string(one.gpus.size()) + " GPUs";
    if (group.state == Group::State::watched)
        return "";
    const TenantProgress &before = group.before[tenant];
    switch (group.need) {
    case WindowNeed::none:
        return "left as it is, because it runs together for " + percent(before.together_part) +
               " of its time";
    case WindowNeed::apart:
        return "left as it is, because those that are not served first share no GPU";
    case WindowNeed::barred:
        return "left as it is, because timeslice goals and services that are capped or among "
               "themselves bar windows";
    case WindowNeed::unkept:
        return "left as it is, because windows did not keep a share beside what is served first";
    case WindowNeed::clear:
        return "left as it is, because a trial of windows made the jobs slower";
    case WindowNeed::harmful:
        return "left as it is, because windows would be " +
               percent(part_in_windows(group.plan, tenant)) + " of the time, and it has " +
               percent(scaled(before.used, whole, before.time));
    }
    return "";
}

} // namespace

void WindowKeeper::set_tenants(std::uint32_t gpu, std::vector<TenantOnGpu> tenants, Ns now) {
    std::ranges::sort(tenants, {}, &TenantOnGpu::name);
    std::vector<TenantOnGpu> &present = tenants_[gpu];
    if (present == tenants)
        return;
    present = std::move(tenants);
    changed_at_ = now;
}

Ns WindowKeeper::due() const {
    Ns due = changed_at_.value_or(std::numeric_limits<Ns>::max());
    for (const Group &group : groups_)
        due = std::min(due, group.has_windows()
                                ? group.due
                                : std::min(group.due, group.counted_at + between_counts));
    return due;
}

std::vector<std::uint32_t> WindowKeeper::gpus() const {
    std::vector<std::uint32_t> all;
    for (const Group &group : groups_)
        all.insert(all.end(), group.gpus.begin(), group.gpus.end());
    std::ranges::sort(all);
    return all;
}

std::vector<WindowGroup> WindowKeeper::find_groups() const {
    std::vector<GangTenant> tenants;
    std::vector<Group::Member> members;
    std::map<std::string, std::size_t> numbers;
    for (const auto &[gpu, on_gpu] : tenants_)
        for (const TenantOnGpu &one : on_gpu) {
            const std::string name = one.is_gang ? one.name : name_on(one.name, gpu);
            const auto [at, is_new] = numbers.try_emplace(name, tenants.size());
            if (is_new) {
                tenants.push_back({.name = name, .gpus = {}, .goal = one.goal});
                members.push_back({.name = one.name});
            }
            tenants[at->second].gpus.push_back(gpu);
            members[at->second].ranks.push_back({.had = {.gpu = gpu}});
        }
    std::vector<Group> groups;
    for (const std::vector<std::size_t> &those : window_groups(tenants)) {
        Group &group = groups.emplace_back();
        for (const std::size_t number : those) {
            for (const std::uint32_t gpu : tenants[number].gpus)
                group.gpus.push_back(gpu);
            group.tenants.push_back(std::move(tenants[number]));
            group.members.push_back(std::move(members[number]));
        }
        std::ranges::sort(group.gpus);
        group.gpus.erase(std::unique(group.gpus.begin(), group.gpus.end()), group.gpus.end());
    }
    return groups;
}

/// Finds the groups again. One with a tenant that had windows has them at once; a tenant keeps its
/// account.
void WindowKeeper::regroup(Ns now, Orders &orders) {
    std::vector<Group> before = std::exchange(groups_, {});
    for (Group &group : find_groups()) {
        const auto same =
            std::ranges::find_if(before, [&](const Group &one) { return is_same(one, group); });
        if (same != before.end()) {
            groups_.push_back(std::move(*same));
            before.erase(same);
            continue;
        }
        bool had_windows = false;
        for (const Group &old : before)
            for (const GangTenant &tenant : old.tenants)
                for (GangTenant &one : group.tenants)
                    if (one.name == tenant.name) {
                        one.account = tenant.account;
                        had_windows = had_windows || old.has_windows();
                    }
        const bool goes_on = had_windows && !are_windows_barred(group.tenants);
        enter(group, goes_on ? Group::State::windows : Group::State::watched, now, orders);
        group.stands_for = trial_of_windows;
        groups_.push_back(std::move(group));
    }
}

std::vector<WindowOrder> WindowKeeper::step(Ns now, std::span<const WindowTurns> turns) {
    const auto in_windows = [&] {
        std::vector<std::uint32_t> gpus;
        for (const Group &group : groups_)
            if (group.has_windows())
                gpus.insert(gpus.end(), group.gpus.begin(), group.gpus.end());
        return gpus;
    };
    const std::vector<std::uint32_t> before = in_windows();
    for (Group &group : groups_)
        count(group, turns, now);
    Orders orders;
    if (std::exchange(changed_at_, std::nullopt))
        regroup(now, orders);
    for (Group &group : groups_)
        if (group.due <= now) {
            group.has_windows() ? step_windows(group, now, orders) : judge(group, now, orders);
        } else if (group.stands()) {
            note_together(group);
            forget_turns(group);
        }
    // GPUs that have no windows any more are left to their governors.
    const std::vector<std::uint32_t> after = in_windows();
    for (const std::uint32_t gpu : before)
        if (std::ranges::count(after, gpu) == 0)
            orders[gpu] = {.gpu = gpu, .has_windows = false};
    std::vector<WindowOrder> all;
    for (auto &[gpu, order] : orders)
        all.push_back(std::move(order));
    return all;
}

void WindowKeeper::enter(Group &group, Group::State state, Ns now, Orders &orders) const {
    const bool had_windows = group.has_windows();
    group.state = state;
    group.since = group.counted_at = now;
    group.stands_for = between_trials;
    if (!group.has_windows())
        for (GangTenant &tenant : group.tenants)
            tenant.account.owed.clear(); // governors begin without debts, too
    forget_turns(group);
    for (Group::Member &member : group.members)
        for (Group::Rank &rank : member.ranks) {
            rank.counted_until = now;
            rank.is_whole = true;
        }
    if (!group.has_windows()) {
        group.due = now + (group.stands() ? group.stands_for : watch_before_windows);
        return;
    }
    group.plan = plan_windows(group.tenants, settings_, now);
    group.row = 0;
    if (!had_windows) // caps were used until now, so that their windows begin with the next cycle
        for (Row &row : group.plan.rows)
            std::erase_if(row.holders,
                          [&](std::size_t n) { return group.tenants[n].goal.cap.has_value(); });
    group.due = next_change(group.plan, now);
    order_row(group, orders);
}

/// Decides whether windows are to be tried, or looks at the choice again.
void WindowKeeper::judge(Group &group, Ns now, Orders &orders) const {
    if (!is_counted(group, now)) {
        group.due = now + between_answers;
        return;
    }
    note_together(group);
    if (group.stands())
        return enter(group, Group::State::watched, now, orders);
    std::vector<TenantProgress> before = progress_of(group, now);
    group.plan = plan_windows(group.tenants, settings_, now);
    const WindowNeed need = need_for_windows(group.tenants, before, group.plan);
    if (group.state == Group::State::left && need == WindowNeed::clear && were_in_step(group) &&
        now - group.since < 2 * watch_before_windows) {
        group.due = group.since + 2 * watch_before_windows;
        return;
    }
    group.before = std::move(before);
    group.need = need;
    enter(group, group.need == WindowNeed::clear ? Group::State::tried : Group::State::left, now,
          orders);
}

void WindowKeeper::step_windows(Group &group, Ns now, Orders &orders) const {
    const Ns end = group.plan.begin + group.plan.length();
    if (now >= end) {
        note_together(group);
        if (group.state == Group::State::tried && now - group.since >= trial_of_windows) {
            if (!do_windows_help(group.tenants, group.before, progress_of(group, now)))
                return enter(group, Group::State::left, now, orders);
            group.state = Group::State::windows;
            group.since = now;
        } else if (group.state == Group::State::windows && now - group.since >= group.stands_for) {
            return enter(group, Group::State::watched, now, orders);
        }
        settle(group);
        if (misses_promise(group)) {
            group.need = WindowNeed::unkept;
            return enter(group, Group::State::left, now, orders);
        }
        const Ns late = now - end;
        group.plan = next_plan(group, late > settings_.shortest ? now : end);
    }
    group.row = row_at(group.plan, now);
    group.due = next_change(group.plan, now);
    order_row(group, orders);
}

/// Returns the next cycle of windows. Where all tenants have work all the time, a window may be longer,
/// because nobody uses the gaps of others. Each change of windows costs requests.
WindowPlan WindowKeeper::next_plan(const Group &group, Ns begin) const {
    WindowPlan plan = plan_windows(group.tenants, settings_, begin);
    if (group.state != Group::State::windows ||
        std::ranges::any_of(group.tenants, [&](const GangTenant &tenant) {
            return tenant.goal.aim != Aim::best_effort || tenant.goal.cap ||
                   tenant.account.gives_way > settings_.little_giving_way;
        }))
        return plan;
    const Ns times = std::min(settings_.longer_at_most, settings_.longest_cycle / plan.length());
    if (times < 2)
        return plan;
    WindowSettings longer = settings_;
    longer.shortest = times * shortest_window(group.gpus.size(), settings_);
    return plan_windows(group.tenants, longer, begin);
}

/// Settles the accounts of a cycle. Nothing is owed to a rank if some turns of its GPU are missing.
void WindowKeeper::settle(Group &group) const {
    const Ns cycle = group.plan.length();
    for (std::size_t n = 0; n < group.members.size(); n++) {
        GangTenant &tenant = group.tenants[n];
        std::vector<RankWindows> contested;
        Ns own_time = 0;
        std::int64_t gave_way = 0;
        for (Group::Rank &rank : group.members[n].ranks) {
            const bool is_contested = std::ranges::any_of(group.tenants, [&](const auto &other) {
                return &other != &tenant && other.is_on(rank.had.gpu);
            });
            rank.had.is_alone = is_alone_on(group, n, rank.had.gpu);
            if (is_contested && rank.is_whole)
                contested.push_back(rank.had);
            own_time = std::max(own_time, rank.had.used_in);
            gave_way = std::max(gave_way, rank.gave_way_in);
            rank.had = {.gpu = rank.had.gpu};
            rank.is_whole = true;
        }
        // A holder beside which the others are paused is not seen to give way.
        if (group.state != Group::State::tried && own_time > 0 &&
            tenant.account.gives_way <= settings_.much_giving_way)
            tenant.account.gives_way +=
                (gave_way * second / own_time - tenant.account.gives_way) / 16;
        tenant.account = settled_windows(tenant.goal, tenant.account, group.plan.parts[n],
                                         contested, cycle, settings_);
    }
    if (group.state != Group::State::tried)
        forget_turns(group);
}

/// Returns the progress of each tenant, by its turns since the present state began.
std::vector<TenantProgress> WindowKeeper::progress_of(const Group &group, Ns now) const {
    std::vector<TenantProgress> all;
    for (std::size_t n = 0; n < group.members.size(); n++) {
        TenantProgress one{
            .time = now - group.since, .used = std::numeric_limits<Ns>::max(), .is_alone = true};
        std::vector<std::vector<TurnSpan>> turns;
        for (const Group::Rank &rank : group.members[n].ranks) {
            Ns used = 0;
            for (const TurnSpan &turn : rank.turns)
                used += turn.end - turn.begin;
            const bool is_alone = is_alone_on(group, n, rank.had.gpu);
            one.gave_way = std::max(one.gave_way, is_alone ? 0 : rank.gave_way);
            one.waited = std::max(one.waited, rank.waited);
            one.used = std::min(one.used, used);
            one.is_alone = one.is_alone && is_alone;
            turns.push_back(rank.turns);
        }
        one.together_part = one.used ? scaled(time_together(turns), whole, one.used) : 0;
        all.push_back(one);
    }
    return all;
}

/// Returns whether the others are paused on the GPU while the tenant has its window there.
bool WindowKeeper::is_alone_on(const Group &group, std::size_t tenant, std::uint32_t gpu) const {
    const Row own{.holders = {tenant}};
    for (std::size_t n = 0; n < group.tenants.size(); n++)
        if (n != tenant && group.tenants[n].is_on(gpu) && !group.tenants[n].is_first() &&
            !lever_in(group.tenants, own, n, gpu, settings_).paused)
            return false;
    return true;
}

/// Returns whether windows have failed to keep a promise.
bool WindowKeeper::misses_promise(const Group &group) const {
    for (std::size_t n = 0; n < group.tenants.size(); n++)
        if (is_promise_missed(group.tenants[n].goal, group.tenants[n].account, group.plan.parts[n],
                              group.plan.length(), settings_))
            return true;
    return false;
}

/// Gives the levers of the present row on all GPUs of the group.
void WindowKeeper::order_row(const Group &group, Orders &orders) const {
    for (const std::uint32_t gpu : group.gpus) {
        WindowOrder order{.gpu = gpu, .has_windows = true};
        for (std::size_t n = 0; n < group.tenants.size(); n++) {
            if (!group.tenants[n].is_on(gpu))
                continue;
            const WindowLever lever =
                lever_in(group.tenants, group.plan.rows[group.row], n, gpu, settings_);
            const bool holds_back =
                lever.paused || lever.timeslice.value_or(0) == settings_.other_slice;
            (holds_back ? order.then : order.first).push_back({group.members[n].name, lever});
        }
        orders[gpu] = std::move(order);
    }
}

std::optional<GangReport> WindowKeeper::report(const std::string &tenant) const {
    for (const Group &group : groups_)
        for (std::size_t n = 0; n < group.members.size(); n++)
            if (group.members[n].name == tenant && group.tenants[n].gpus.size() > 1)
                return GangReport{.has_windows = group.has_windows(),
                                  .together = group.members[n].together,
                                  .why = reason(group, n)};
    return std::nullopt;
}

} // namespace qos
