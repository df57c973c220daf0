// SPDX-License-Identifier: MIT OR GPL-2.0
#include "gangs.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>

namespace qos {
namespace {

using Numbers = std::vector<std::size_t>;

Numbers in_the_order_of_names(std::span<const GangTenant> tenants, Numbers members) {
    std::ranges::sort(members, {},
                      [&](std::size_t n) { return std::string_view(tenants[n].name); });
    return members;
}

Numbers in_the_order_of_names(std::span<const GangTenant> tenants) {
    Numbers all(tenants.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return in_the_order_of_names(tenants, std::move(all));
}

/// Returns how many GPUs the tenants use.
std::size_t count_gpus(std::span<const GangTenant> tenants) {
    std::vector<std::uint32_t> gpus;
    for (const GangTenant &tenant : tenants)
        gpus.insert(gpus.end(), tenant.gpus.begin(), tenant.gpus.end());
    std::ranges::sort(gpus);
    return static_cast<std::size_t>(std::unique(gpus.begin(), gpus.end()) - gpus.begin());
}

bool fits(std::span<const GangTenant> tenants, const Numbers &holders, std::size_t tenant) {
    return std::ranges::none_of(
        holders, [&](std::size_t other) { return tenants[tenant].clashes_with(tenants[other]); });
}

bool has_cap(const GangTenant &tenant) {
    return tenant.goal.cap && *tenant.goal.cap < whole;
}

/// Gives each tenant a row, the tenants with many GPUs first. A tenant with a cap has a row of its
/// own, because the window of another one may be longer than its cap allows.
std::vector<OwnedRow> make_rows(std::span<const GangTenant> tenants, const Numbers &members) {
    Numbers order = in_the_order_of_names(tenants, members);
    std::ranges::stable_sort(order, std::ranges::greater(),
                             [&](std::size_t n) { return tenants[n].gpus.size(); });
    std::vector<OwnedRow> rows;
    for (const std::size_t tenant : order) {
        if (tenants[tenant].is_first())
            continue;
        auto row = rows.begin();
        while (row != rows.end() &&
               (has_cap(tenants[tenant]) || has_cap(tenants[row->owners.front()]) ||
                !fits(tenants, row->owners, tenant)))
            ++row;
        if (row == rows.end())
            row = rows.insert(row, OwnedRow());
        row->owners.push_back(tenant);
    }
    return rows;
}

Part promised_to(const GangTenant &tenant) {
    return is_promised(tenant.goal.aim) ? tenant.goal.part : 0;
}

/// Returns the part of the time of a tenant if each unit of weight has @p unit.
Part part_of(const GangTenant &tenant, Part unit) {
    const Part part = is_promised(tenant.goal.aim) ? tenant.goal.part : tenant.goal.weight * unit;
    return std::min(part, tenant.goal.cap.value_or(whole));
}

Part part_of_row(std::span<const GangTenant> tenants, const Numbers &owners, Part unit) {
    Part most = 0;
    for (const std::size_t owner : owners)
        most = std::max(most, part_of(tenants[owner], unit));
    return most;
}

/// Gives each row its part of the time: promised parts first, and the rest by weight. If no row has
/// a weight, all grow by the same factor as far as their caps allow.
void divide(std::span<const GangTenant> tenants, std::vector<OwnedRow> &rows) {
    const auto divide_at = [&](Part unit) {
        Part sum = 0;
        for (OwnedRow &row : rows)
            sum += row.part = part_of_row(tenants, row.owners, unit);
        return sum;
    };
    Part least = 0, most = whole; // of a unit of weight: the largest that fits
    while (least < most) {
        const Part middle = least + (most - least + 1) / 2;
        divide_at(middle) <= whole ? least = middle : most = middle - 1;
    }
    const Part sum = divide_at(least);
    const bool has_weight = std::ranges::any_of(rows, [&](const OwnedRow &row) {
        return std::ranges::any_of(row.owners, [&](std::size_t owner) {
            return !is_promised(tenants[owner].goal.aim) && !has_cap(tenants[owner]);
        });
    });
    if (sum == 0 || (has_weight && sum <= whole))
        return;
    for (OwnedRow &row : rows) {
        const GangTenant &owner = tenants[row.owners.front()];
        row.part = std::min(scaled(row.part, whole, sum), has_cap(owner) ? *owner.goal.cap : whole);
    }
}

/// Returns the time in which each row has its window: the shortest part has the shortest window.
/// With a cap a whole number of cycles is a second, so that every second has the same part.
Ns cycle_of_rows(std::span<const GangTenant> tenants, const std::vector<OwnedRow> &rows,
                 const WindowSettings &settings) {
    Part least = whole;
    for (const OwnedRow &row : rows)
        least = row.part > 0 ? std::min(least, row.part) : least;
    const Ns window = shortest_window(count_gpus(tenants), settings);
    const Ns longest = std::max(settings.longest_cycle, static_cast<Ns>(rows.size()) * window);
    const Ns cycle = std::min(scaled(window, whole, std::max<Part>(least, 1)), longest);
    return std::ranges::any_of(tenants, has_cap) ? second / std::max<Ns>(1, second / cycle) : cycle;
}

/// Returns the length of the window that a row has for its owner. What is owed is repaid over some
/// cycles. A tenant without a promise that has less than a window of each cycle saves that up, and
/// else is owed nothing beside promises, because what repays these is taken from it.
Ns length_for(const GangTenant &owner, Part part, Ns cycle, Ns window, bool is_beside_promises,
              const WindowSettings &settings) {
    const Ns usual = scaled(cycle, part, whole);
    if (has_cap(owner)) {
        // The pause of the last rank may be late by a request or two of others.
        const Ns allowed = scaled(cycle, *owner.goal.cap, whole) - 2 * settings.request;
        const Ns owed = promised_to(owner) ? scaled(owner.account.credit(), cycle,
                                                    std::max(settings.repaid_in, 2 * cycle))
                                           : 0;
        return std::max<Ns>(0, std::min(usual + owed, allowed));
    }
    const bool saves_up = !promised_to(owner) && usual + ms < window;
    const Ns credit = owner.account.credit(),
             repaid = saves_up ? credit
                      : promised_to(owner) || !is_beside_promises
                          ? scaled(credit, cycle, std::max(settings.repaid_in, 2 * cycle))
                          : 0,
             wanted = usual + repaid;
    return 2 * wanted < window ? 0 : std::max((wanted + ms / 2) / ms * ms, window);
}

/// Makes the rows as long as the cycle together: a row without a cap takes or gives the rest. If
/// there is none, the rest of the cycle is left without a holder.
void fit_to_cycle(std::span<const GangTenant> tenants, std::vector<Row> &rows, Ns cycle,
                  Ns window) {
    Ns rest = cycle;
    for (const Row &row : rows)
        rest -= row.length;
    const auto takes = std::ranges::find_if(rows, [&](const Row &row) {
        return row.length > 0 && !has_cap(tenants[row.holders.front()]);
    });
    if (takes != rows.end())
        takes->length = std::max(takes->length + rest, window);
    else if (rest > 0)
        rows.push_back({.holders = {}, .length = rest});
}

/// Searches for the heaviest set of tenants that clash pair by pair, by branch and bound. Tenants on
/// the same GPUs are in the set all or none, so that they are one node of the search.
class HeaviestClash {
  public:
    explicit HeaviestClash(std::span<const GangTenant> tenants) : tenants_(tenants) {
        for (const std::size_t tenant : in_the_order_of_names(tenants)) {
            if (promised_to(tenants[tenant]) == 0)
                continue;
            std::vector<std::uint32_t> gpus = tenants[tenant].gpus;
            std::ranges::sort(gpus);
            auto node = std::ranges::find(nodes_, gpus, &Node::gpus);
            if (node == nodes_.end())
                node = nodes_.insert(nodes_.end(), {.gpus = std::move(gpus)});
            node->tenants.push_back(tenant);
            node->part += promised_to(tenants[tenant]);
        }
    }

    /// Returns the tenants of the set in the order of names.
    Numbers find() {
        Numbers all(nodes_.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        search(std::move(all), 0);
        Numbers found;
        for (const std::size_t node : heaviest_)
            found.insert(found.end(), nodes_[node].tenants.begin(), nodes_[node].tenants.end());
        std::ranges::sort(found, {},
                          [&](std::size_t n) { return std::string_view(tenants_[n].name); });
        return found;
    }

  private:
    struct Node {
        std::vector<std::uint32_t> gpus; ///< in order
        Numbers tenants = {};
        Part part = 0; ///< of all of them
    };

    bool clash(std::size_t a, std::size_t b) const {
        return std::ranges::any_of(nodes_[a].gpus, [&](std::uint32_t gpu) {
            return std::ranges::binary_search(nodes_[b].gpus, gpu);
        });
    }

    /// Returns no less than the heaviest set of these weighs: it has one node at most of each class
    /// of nodes that do not clash.
    Part bound_of(const Numbers &nodes) const {
        std::vector<Numbers> classes;
        Part sum = 0;
        for (const std::size_t node : nodes) {
            const auto fits_in = [&](const Numbers &one) {
                return std::ranges::none_of(one, [&](std::size_t n) { return clash(n, node); });
            };
            if (const auto one = std::ranges::find_if(classes, fits_in); one != classes.end()) {
                sum += std::max<Part>(0, nodes_[node].part - heaviest_of(*one));
                one->push_back(node);
            } else {
                sum += nodes_[node].part;
                classes.push_back({node});
            }
        }
        return sum;
    }

    Part heaviest_of(const Numbers &nodes) const {
        Part most = 0;
        for (const std::size_t node : nodes)
            most = std::max(most, nodes_[node].part);
        return most;
    }

    /// @param nodes that clash with all of set_
    void search(Numbers nodes, Part sum) {
        if (sum > most_) {
            most_ = sum;
            heaviest_ = set_;
        }
        while (!nodes.empty() && sum + bound_of(nodes) > most_) {
            const std::size_t node = nodes.front();
            nodes.erase(nodes.begin());
            Numbers rest;
            std::ranges::copy_if(nodes, std::back_inserter(rest),
                                 [&](std::size_t other) { return clash(node, other); });
            set_.push_back(node);
            search(std::move(rest), sum + nodes_[node].part);
            set_.pop_back();
        }
    }

    std::span<const GangTenant> tenants_;
    std::vector<Node> nodes_;
    Numbers set_, heaviest_; ///< nodes
    Part most_ = 0;
};

/// With fewer turns that give way, a change in the mean or the loss of one tenant may be chance.
constexpr std::int64_t least_for_mean = 10, least_for_one = 20;

Ns in_a_second(Ns count, Ns time) {
    return scaled(count, second, time);
}

/// Returns whether a task of one GPU has clearly less time of use in windows.
bool is_time_lost(const GangTenant &task, const TenantProgress &before, const TenantProgress &now) {
    constexpr Part least = 80 * point, least_of_share = 95 * point;
    if (now.is_alone)
        return in_a_second(now.time - now.waited, now.time) <
               scaled(in_a_second(before.time - before.waited, before.time), least, whole);
    const Ns had = in_a_second(before.used, before.time),
             promised = std::min(scaled(second, promised_to(task), whole), had);
    return in_a_second(now.used, now.time) <
           std::max(scaled(promised, least_of_share, whole), scaled(had, least, whole));
}

/// Returns the most that a change of a gang's rate of turns counts for.
Part most_that_counts(const TenantProgress &before, const TenantProgress &now) {
    constexpr Part seldom_together = 20 * point, most_gained = 150 * point;
    constexpr std::int64_t just_in_time = 125; ///< turns in a second of its own time
    if (before.together_part < seldom_together)
        return most_gained;
    if (before.gave_way < least_for_one ||
        in_a_second(before.gave_way, before.used) <= just_in_time)
        return whole;
    return std::min(whole, scaled(scaled(now.used, whole, std::max<Ns>(before.used, 1)),
                                  before.time, now.time));
}

} // namespace

bool GangTenant::is_on(std::uint32_t gpu) const {
    return std::ranges::count(gpus, gpu) > 0;
}

bool GangTenant::clashes_with(const GangTenant &other) const {
    return std::ranges::any_of(gpus, [&](std::uint32_t gpu) { return other.is_on(gpu); });
}

Ns WindowAccount::credit() const {
    Ns most = owed.empty() ? 0 : owed.begin()->second;
    for (const auto &[gpu, time] : owed)
        most = std::max(most, time);
    return most;
}

Ns WindowPlan::length() const {
    return std::accumulate(rows.begin(), rows.end(), Ns{0},
                           [](Ns sum, const Row &row) { return sum + row.length; });
}

std::vector<Numbers> linked_tenants(std::span<const GangTenant> tenants, const Numbers &members) {
    std::vector<Numbers> groups;
    for (const std::size_t tenant : in_the_order_of_names(tenants, members)) {
        Numbers joined;
        for (Numbers &group : groups)
            if (std::ranges::any_of(group, [&](std::size_t other) {
                    return tenants[tenant].clashes_with(tenants[other]);
                })) {
                joined.insert(joined.end(), group.begin(), group.end());
                group.clear();
            }
        std::erase_if(groups, [](const Numbers &group) { return group.empty(); });
        joined.push_back(tenant);
        groups.push_back(std::move(joined));
    }
    const auto name = [&](std::size_t tenant) { return std::string_view(tenants[tenant].name); };
    for (Numbers &group : groups)
        std::ranges::sort(group, {}, name);
    std::ranges::sort(groups, {}, [&](const Numbers &group) { return name(group.front()); });
    return groups;
}

std::vector<Numbers> window_groups(std::span<const GangTenant> tenants) {
    std::vector<Numbers> groups = linked_tenants(tenants, in_the_order_of_names(tenants));
    std::erase_if(groups, [&](const Numbers &group) {
        return std::ranges::none_of(group, [&](std::size_t tenant) {
            return tenants[tenant].gpus.size() > 1 &&
                   (group.size() > 1 || has_cap(tenants[tenant]));
        });
    });
    return groups;
}

Ns shortest_window(std::size_t gpus, const WindowSettings &settings) {
    return std::max(settings.shortest,
                    settings.worth_requests * static_cast<Ns>(gpus) * settings.request);
}

WindowPlan plan_windows(std::span<const GangTenant> tenants, const WindowSettings &settings,
                        Ns begin) {
    const std::vector<OwnedRow> rows = owned_rows(tenants, in_the_order_of_names(tenants));
    const Ns cycle = cycle_of_rows(tenants, rows, settings),
             window = shortest_window(count_gpus(tenants), settings);
    WindowPlan plan{.begin = begin, .rows = {}, .parts = std::vector<Part>(tenants.size())};
    const bool has_promises = std::ranges::any_of(
        tenants, [](const GangTenant &tenant) { return promised_to(tenant) > 0; });
    for (const OwnedRow &owned : rows) {
        Row &row = plan.rows.emplace_back(Row{.holders = owned.owners, .length = 0});
        for (const std::size_t owner : owned.owners) {
            plan.parts[owner] = promised_to(tenants[owner]) ? tenants[owner].goal.part : owned.part;
            row.length = std::max(row.length, length_for(tenants[owner], owned.part, cycle, window,
                                                         has_promises, settings));
        }
    }
    // If no tenant is owed a whole window, the first row has one all the same.
    if (plan.length() == 0 && !plan.rows.empty())
        plan.rows.front().length = window;
    if (std::ranges::any_of(tenants, has_cap))
        fit_to_cycle(tenants, plan.rows, cycle, window);
    std::erase_if(plan.rows, [](const Row &row) { return row.length == 0; });
    fill_holes(tenants, in_the_order_of_names(tenants), plan.rows);
    return plan;
}

std::vector<OwnedRow> owned_rows(std::span<const GangTenant> tenants, const Numbers &members) {
    std::vector<OwnedRow> rows = make_rows(tenants, members);
    divide(tenants, rows);
    return rows;
}

void fill_holes(std::span<const GangTenant> tenants, const Numbers &members,
                std::vector<Row> &rows) {
    const Numbers order = in_the_order_of_names(tenants, members);
    for (Row &row : rows)
        for (const std::size_t tenant : order)
            if (!tenants[tenant].is_first() && !has_cap(tenants[tenant]) &&
                fits(tenants, row.holders, tenant))
                row.holders.push_back(tenant);
}

Part part_in_windows(const WindowPlan &plan, std::size_t tenant) {
    Ns held = 0;
    for (const Row &row : plan.rows)
        held += std::ranges::count(row.holders, tenant) > 0 ? row.length : 0;
    return held ? scaled(held, whole, plan.length()) : 0;
}

std::size_t row_at(const WindowPlan &plan, Ns now) {
    Ns left = (now - plan.begin) % plan.length();
    std::size_t at = 0;
    while (left >= plan.rows[at].length)
        left -= plan.rows[at++].length;
    return at;
}

Ns next_change(const WindowPlan &plan, Ns now) {
    const Ns cycle = plan.length(), into = (now - plan.begin) % cycle;
    Ns end = 0;
    for (const Row &row : plan.rows)
        if ((end += row.length) > into)
            break;
    return now - into + end;
}

std::optional<std::size_t> holder_on(std::span<const GangTenant> tenants, const Row &row,
                                     std::uint32_t gpu) {
    const auto at = std::ranges::find_if(
        row.holders, [&](std::size_t tenant) { return tenants[tenant].is_on(gpu); });
    return at == row.holders.end() ? std::nullopt : std::optional(*at);
}

WindowLever lever_in(std::span<const GangTenant> tenants, const Row &row, std::size_t tenant,
                     std::uint32_t gpu, const WindowSettings &settings) {
    if (tenants[tenant].is_first())
        return {.timeslice = settings.latency_slice};
    const bool is_beside_first = std::ranges::any_of(
        tenants, [&](const GangTenant &other) { return other.is_first() && other.is_on(gpu); });
    const auto holder = holder_on(tenants, row, gpu);
    if (holder == tenant)
        return {.timeslice = is_beside_first ? settings.other_slice : settings.holder_slice};
    if (has_cap(tenants[tenant]))
        return {.timeslice = std::nullopt, .paused = true};
    if (!holder)
        return {.timeslice = is_beside_first ? std::optional(settings.other_slice) : std::nullopt};
    if (is_beside_first || tenants[*holder].account.gives_way > settings.much_giving_way)
        return {.timeslice = std::nullopt, .paused = true};
    return {.timeslice = settings.other_slice};
}

WindowAccount settled_windows(const Goal &goal, WindowAccount account, Part part,
                              std::span<const RankWindows> ranks, Ns cycle,
                              const WindowSettings &settings) {
    for (const RankWindows &rank : ranks) {
        // A turn may go on for a while without work, which is no use. So a promise is more.
        const Part not_seen = (rank.is_alone ? 14 : 3) * point / 10;
        const Ns quota = scaled(cycle, part + (is_promised(goal.aim) ? not_seen : 0), whole);
        Ns &owed = account.owed[rank.gpu];
        if (2 * rank.used_in >= rank.held - rank.taken)
            owed += quota - (is_promised(goal.aim) ? rank.used : rank.held);
        owed = std::clamp(owed, -quota, settings.kept_cycles * quota);
    }
    return account;
}

bool is_promise_missed(const Goal &goal, const WindowAccount &account, Part part, Ns cycle,
                       const WindowSettings &settings) {
    const Ns most = settings.kept_cycles * scaled(cycle, part, whole);
    return is_promised(goal.aim) && account.credit() >= most - most / 4;
}

Ns time_together(std::span<const std::vector<TurnSpan>> ranks) {
    std::vector<std::size_t> at(ranks.size());
    Ns together = 0;
    while (true) {
        Ns begin = std::numeric_limits<Ns>::min(), end = std::numeric_limits<Ns>::max();
        std::size_t first_to_end = 0;
        for (std::size_t n = 0; n < ranks.size(); n++) {
            if (at[n] == ranks[n].size())
                return together;
            const TurnSpan &turn = ranks[n][at[n]];
            begin = std::max(begin, turn.begin);
            if (turn.end < end) {
                end = turn.end;
                first_to_end = n;
            }
        }
        if (ranks.empty())
            return 0;
        together += std::max<Ns>(0, end - begin);
        at[first_to_end]++;
    }
}

std::optional<Part> together_of(std::span<const std::vector<TurnSpan>> ranks) {
    Ns sum = 0;
    for (const auto &turns : ranks)
        for (const TurnSpan &turn : turns)
            sum += turn.end - turn.begin;
    if (sum == 0)
        return std::nullopt;
    return scaled(time_together(ranks) * static_cast<Ns>(ranks.size()), whole, sum);
}

bool are_windows_barred(std::span<const GangTenant> tenants) {
    return std::ranges::all_of(tenants, &GangTenant::is_first) ||
           std::ranges::any_of(tenants, [](const GangTenant &tenant) {
               return tenant.goal.aim == Aim::timeslice || (tenant.is_first() && has_cap(tenant));
           });
}

WindowNeed need_for_windows(std::span<const GangTenant> tenants,
                            std::span<const TenantProgress> seen, const WindowPlan &plan) {
    const auto has_several_beside = [&](const GangTenant &service) {
        return std::ranges::any_of(service.gpus, [&](std::uint32_t gpu) {
            return std::ranges::count_if(tenants, [&](const GangTenant &other) {
                       return !other.is_first() && other.is_on(gpu);
                   }) > 1;
        });
    };
    if (are_windows_barred(tenants))
        return WindowNeed::barred;
    if (plan.rows.size() == 1)
        return WindowNeed::apart;
    const auto is_beside_first = [&](const GangTenant &tenant) {
        return std::ranges::any_of(tenants, [&](const GangTenant &other) {
            return other.is_first() && other.clashes_with(tenant);
        });
    };
    bool is_needed = false, may_lose = false;
    for (std::size_t n = 0; n < tenants.size(); n++) {
        const GangTenant &tenant = tenants[n];
        const bool is_gang = tenant.gpus.size() > 1;
        is_needed =
            is_needed || (is_gang && (seen[n].together_part < enough_together || has_cap(tenant) ||
                                      (tenant.is_first() && has_several_beside(tenant))));
        const auto part_of_time = [&](Ns time, Part part) {
            return seen[n].time ? scaled(time, part, seen[n].time) : 0;
        };
        const Part least = std::max(
            part_of_time(seen[n].used, 85 * point),
            is_beside_first(tenant) ? part_of_time(seen[n].time - seen[n].waited, 75 * point) : 0);
        may_lose = may_lose ||
                   (!tenant.is_first() && !has_cap(tenant) && part_in_windows(plan, n) < least);
    }
    return !is_needed ? WindowNeed::none : may_lose ? WindowNeed::harmful : WindowNeed::clear;
}

bool do_windows_help(std::span<const GangTenant> tenants, std::span<const TenantProgress> without,
                     std::span<const TenantProgress> with) {
    constexpr Part least_in_the_mean = 90 * point, least_of_gang = 60 * point,
                   least_of_task = 70 * point;
    Part sum = 0;
    std::int64_t count = 0;
    for (std::size_t n = 0; n < tenants.size(); n++) {
        const TenantProgress &before = without[n], &now = with[n];
        const bool is_gang = tenants[n].gpus.size() > 1;
        if (tenants[n].is_first())
            continue;
        if (!is_gang && is_time_lost(tenants[n], before, now))
            return false;
        if (now.is_alone || std::max(before.gave_way, now.gave_way) < least_for_mean)
            continue;
        const Part change =
            scaled(scaled(now.gave_way, whole, std::max<std::int64_t>(before.gave_way, 1)),
                   before.time, now.time);
        if (before.gave_way >= least_for_one && change < (is_gang ? least_of_gang : least_of_task))
            return false;
        sum += std::min(change, is_gang ? most_that_counts(before, now) : whole);
        count++;
    }
    return sum >= count * least_in_the_mean;
}

std::vector<std::size_t> heaviest_clash(std::span<const GangTenant> tenants) {
    return HeaviestClash(tenants).find();
}

} // namespace qos
