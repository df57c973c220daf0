// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Windows for tenants that need several GPUs at once: pure functions.
///
/// A job with collectives makes progress only while all of its GPUs run it. A tenant with tasks on
/// several GPUs is a gang, and gets windows: in a window it has the long timeslice on all of its
/// GPUs at once, and the other tasks there have the shortest one, so that they run only while the
/// gang has no work. A plan is a matrix of windows and GPUs (Ousterhout's). Each row holds tenants
/// that share no GPU, and the rows follow each other in time. Tenants of one GPU beside a gang have
/// windows, too.
///
/// Tenants that are linked by the GPUs which they share are planned together, as a group. Its plan
/// is in one clock for all GPUs. It is a function of the tenants. They are taken in the order of
/// their names, so that the order of the list does not matter. Each GPU carries out its own part of
/// a plan by itself: row_at() and next_change() have the times, and lever_in() the levers.
///
/// Lengths of windows are in proportion to shares and weights. What a rank has not got it is owed,
/// and what the rank is owed that is owed the most lengthens the next windows of its gang. A rank
/// that held its window and used less than half of it is owed nothing, since it idles, or its peer
/// is dead.
///
/// A tenant that is served first (Aim::latency) has no windows. It has a long timeslice always, and
/// all others on its GPUs have the shortest one, so that its requests begin at once on all of its
/// GPUs. Of the others only the holder of the window runs there, and the rest is paused: where all
/// have the shortest timeslice, a holder would get no more than the others. Where the others share no
/// GPU, there are no windows at all, and the governors serve it first.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "admission.hpp"

namespace qos {

/// The memory of a tenant with windows from plan to plan.
struct WindowAccount {
    /// Time that each rank is owed, by GPU; below 0: the rank had more than its part.
    std::map<std::uint32_t, Ns> owed = {};
    /// How often it gives its GPU up before its timeslice ends, in a second of its own time.
    std::int64_t gives_way = 0;
    bool operator==(const WindowAccount &) const = default;

    /// Returns the credit of the gang: what the rank is owed that is owed the most.
    Ns credit() const;
};

/// A tenant with its GPUs.
struct GangTenant {
    std::string name;                ///< no two have the same one
    std::vector<std::uint32_t> gpus; ///< on which it has tasks, each once
    Goal goal = {};
    WindowAccount account = {};
    bool is_on_other_nodes = false; ///< it has tasks on other machines, too (clock_plan.hpp)

    bool is_first() const { return goal.aim == Aim::latency; }
    bool is_on(std::uint32_t gpu) const;
    bool clashes_with(const GangTenant &other) const;
};

struct WindowSettings {
    Ns shortest = 50 * ms;           ///< window, however few GPUs there are
    Ns request = 750 * us;           ///< of the driver, for one task
    std::int64_t worth_requests = 8; ///< a window lasts as long as so many requests for each GPU
    Ns longest_cycle = 500 * ms;     ///< of all rows, unless they are more than fit into it
    Ns holder_slice = 400 * ms, other_slice = 100 * us; ///< timeslices
    Ns latency_slice = 16 * ms;
    Ns repaid_in = 400 * ms;      ///< debts are repaid in this time, or in two longer cycles
    std::int64_t kept_cycles = 8; ///< a tenant is owed at most its part of so many cycles
    /// Others are paused beside a holder that gives way more often in a second of its own time,
    /// because each of these times costs it two switches. By the simulation a decode loop of four
    /// GPUs (560 to 700 times) has 1.15 of its speed with pauses, and a training that launches
    /// just in time (400 to 560 times) has more with timeslices, as others use its gaps.
    std::int64_t much_giving_way = 600;
    /// Windows are longer where no tenant gives way more often than this in a second of its own time,
    /// and no goal is promised or capped. By the simulation two trainings that keep their GPUs busy
    /// (3 times) have the same sum of speeds with windows of 50 to 200 ms, and trainings that launch
    /// just in time lose 3 % with windows of 100 ms.
    std::int64_t little_giving_way = 125;
    std::int64_t longer_at_most = 2; ///< times, if the cycle stays within the longest one
};

/// A row of the matrix: tenants that have their window at the same time.
struct Row {
    std::vector<std::size_t> holders; ///< of the tenants as given; empty: no tenant may run
    Ns length = 0;
    bool operator==(const Row &) const = default;
};

/// A row before it has a length: the tenants for which it is made.
struct OwnedRow {
    std::vector<std::size_t> owners; ///< of the tenants as given; at least one
    Part part = 0;                   ///< of the time
    bool operator==(const OwnedRow &) const = default;
};

/// The windows of a group from `begin` on. It is repeated until there is another plan.
struct WindowPlan {
    Ns begin = 0;
    std::vector<Row> rows;   ///< in the order of time; empty: there are no windows
    std::vector<Part> parts; ///< by tenant: its part of the time, without its credit
    bool operator==(const WindowPlan &) const = default;

    Ns length() const;
};

/// The lever of a tenant on one GPU while a row has its window.
struct WindowLever {
    std::optional<Ns> timeslice; ///< empty: the present one stays
    bool paused = false;
    bool operator==(const WindowLever &) const = default;
};

/// Returns some tenants in groups that are linked by shared GPUs. The numbers of a group, and the
/// groups, are in the order of names.
/// @param members the numbers of these tenants, in any order
std::vector<std::vector<std::size_t>> linked_tenants(std::span<const GangTenant> tenants,
                                                     const std::vector<std::size_t> &members);

/// Returns the groups of tenants that are linked by shared GPUs, if one of them is a gang that
/// needs windows: it has several GPUs, and shares one of them or has a cap. The numbers of a group,
/// and the groups, are in the order of names.
std::vector<std::vector<std::size_t>> window_groups(std::span<const GangTenant> tenants);

/// Returns the shortest window on so many GPUs.
Ns shortest_window(std::size_t gpus, const WindowSettings &settings);

/// Returns the windows of a group.
/// @param tenants all of the group and no others
WindowPlan plan_windows(std::span<const GangTenant> tenants, const WindowSettings &settings,
                        Ns begin);

/// Returns the rows of some tenants, in the order of time, with their parts of the time.
/// @param members the numbers of these tenants, in any order
std::vector<OwnedRow> owned_rows(std::span<const GangTenant> tenants,
                                 const std::vector<std::size_t> &members);

/// Gives the GPUs that rows leave free to those of some tenants which need no others, in the order
/// of names.
void fill_holes(std::span<const GangTenant> tenants, const std::vector<std::size_t> &members,
                std::vector<Row> &rows);

/// Returns the part of the time in which the tenant has its windows.
Part part_in_windows(const WindowPlan &plan, std::size_t tenant);

/// Returns the row that has its window at @p now, which is not before WindowPlan::begin. The plan
/// has rows.
std::size_t row_at(const WindowPlan &plan, Ns now);
/// Returns the first change of rows after @p now.
Ns next_change(const WindowPlan &plan, Ns now);

/// Returns the tenant that has its window on the GPU in a row; empty: none has.
std::optional<std::size_t> holder_on(std::span<const GangTenant> tenants, const Row &row,
                                     std::uint32_t gpu);

/// Returns the lever of a tenant that is on the GPU in a row.
WindowLever lever_in(std::span<const GangTenant> tenants, const Row &row, std::size_t tenant,
                     std::uint32_t gpu, const WindowSettings &settings);

/// The use of its GPU by a rank in a cycle of windows.
struct RankWindows {
    std::uint32_t gpu = 0;
    Ns used = 0;    ///< it had its GPU
    Ns held = 0;    ///< the length of its windows
    Ns used_in = 0; ///< it had its GPU in its windows
    Ns taken = 0;   ///< tenants that are served first had its GPU in its windows
    /// The others are paused in its windows, so that its turns go on while it has no work.
    bool is_alone = false;
    bool operator==(const RankWindows &) const = default;
};

/// Returns the account after a cycle.
/// @param part WindowPlan::parts of the tenant
/// @param ranks on GPUs that others use, too
WindowAccount settled_windows(const Goal &goal, WindowAccount account, Part part,
                              std::span<const RankWindows> ranks, Ns cycle,
                              const WindowSettings &settings);

/// Returns whether windows have failed to keep a promise: the tenant is owed most of what it can be
/// owed. A tenant that is served first may leave too little, and the governors of the GPUs then
/// divide the time by turns.
bool is_promise_missed(const Goal &goal, const WindowAccount &account, Part part, Ns cycle,
                       const WindowSettings &settings);

/// A time from the record of turns.
struct TurnSpan {
    Ns begin, end;
};

/// Returns how long all ranks had their GPUs at once.
/// @param ranks the turns of each rank, in the order of time, which do not overlap
Ns time_together(std::span<const std::vector<TurnSpan>> ranks);
/// Returns *together*, the part of a gang's time on its GPUs during which all of its ranks had
/// theirs; empty: it had no turns.
std::optional<Part> together_of(std::span<const std::vector<TurnSpan>> ranks);

/// A gang needs no windows if its ranks have their GPUs at once for a larger part of the time of the
/// rank that has its GPU for the least time. What windows cost would be more than it can gain.
inline constexpr Part enough_together = 65 * point;

/// A group is watched for so long before windows are tried, and again and again for so long while
/// it runs together. Windows are tried for so long, and after that the choice stands for so long.
inline constexpr Ns watch_before_windows = 900 * ms, trial_of_windows = 2 * second,
                    between_trials = 60 * second;

/// The progress of a tenant as far as the record of turns shows it.
struct TenantProgress {
    Ns time = 0; ///< in which it was seen
    Ns used = 0; ///< in which the rank with the least time had its GPU
    /// The part of that time in which all ranks had theirs. A gang that shares only one of its GPUs
    /// has the whole: its other ranks have theirs whenever that one has.
    Part together_part = 0;
    /// How many turns of the rank with the most of them ended before their timeslice was over. A
    /// job that waits once a step has as many of these as it has steps. Ranks beside which the
    /// others are paused in windows are left out, since their turns go on while they have no work.
    std::int64_t gave_way = 0;
    /// How long the rank that waited the longest certainly waited, between a turn that did not give
    /// way and its next one. No more than the rest of the time was of use.
    Ns waited = 0;
    /// All of its ranks are left out there. In windows its turns are longer than its work.
    bool is_alone = false;
};

enum class WindowNeed {
    none,    ///< all gangs run together anyway
    apart,   ///< tenants that are not served first share no GPU, so that all have one window
    clear,   ///< windows give each tenant about the time that it has, all at once
    harmful, ///< windows give a tenant clearly less time, as not all fit in rows without holes
    barred,  ///< are_windows_barred()
    unkept,  ///< is_promise_missed() of windows that were there
};

/// Returns whether a group cannot have windows: a goal takes timeslices of its own, or caps a
/// tenant that is served first, or all tenants are served first.
bool are_windows_barred(std::span<const GangTenant> tenants);

/// Returns whether windows are needed, from what was seen without them. A gang needs them if it
/// runs together too little, has a cap, or is served first where several others take turns. With one
/// window for all, the governors of the GPUs do the same, and know busy periods besides. Windows
/// harm a tenant if its part of the windows is clearly less than the time that it has. Beside one
/// that is served first it runs in its windows alone, so that its part must not be clearly less
/// than the time in which it does not certainly wait: a task that thinks may have its whole speed.
/// @param plan the windows that they would have
WindowNeed need_for_windows(std::span<const GangTenant> tenants,
                            std::span<const TenantProgress> seen, const WindowPlan &plan);

/// Returns whether windows are kept after a trial: unless it has shown their harm to one tenant, or
/// to all in the mean.
///
/// Rates of turns that give way are compared. A tenant may lose three tenths of them on one GPU, and
/// four tenths as a gang, and all together a tenth in the mean. Where kernels are launched just in
/// time the rates overstate gains, because a processor that has its GPU at once launches more often
/// than one whose kernels are queued. So no gain counts in the mean, unless it is that of a gang which
/// ran together for less than a fifth of its time: the rate of such a gang counts as one and a half
/// times the previous one at most. A gang that ran together for longer and gave way more than 125
/// times in a second of its own time did not spin much, so that its rate counts for no more than the
/// change of its time. The numbers are from simulated scenarios at random (docs/gangs.md).
///
/// A tenant of one GPU does not spin, so that its time there is its progress. It may lose a fifth of
/// that, and of its share nothing: if it thinks, windows may be too short for it, whatever its part
/// is. Where the others are paused beside it, its turns have idle time, and the time in which it does
/// not certainly wait is compared.
bool do_windows_help(std::span<const GangTenant> tenants, std::span<const TenantProgress> without,
                     std::span<const TenantProgress> with);

/// Returns, of all sets of tenants with promised parts in which each clashes with each other one,
/// the set with the largest sum of parts. Together with the goals of each GPU (conflicts()) it shows
/// whether windows can keep all shares: tenants of such a set never run at the same time. The
/// numbers of the set are in the order of names.
std::vector<std::size_t> heaviest_clash(std::span<const GangTenant> tenants);

} // namespace qos
