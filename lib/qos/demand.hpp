// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file From turns of tenants on an engine: how long each had it, and how long each had work.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <utility>

#include "goal.hpp"

namespace qos {

/// Of one tenant, in an epoch.
struct Observation {
    Ns used = 0;            ///< it had the engine
    Ns backlogged = 0;      ///< it had the engine, or waited for it
    std::int64_t turns = 0; ///< that ended
    bool operator==(const Observation &) const = default;
};

/// A tenant on the engine. Of a turn that goes on when an epoch ends there are several, one after
/// the other.
struct TenantTurn {
    std::size_t tenant;
    std::uint64_t task; ///< any number, another one for each context
    Ns begin, end;
    bool ends; ///< it left the engine
};

/// A task is taken to have waited between two of its turns if it did not give up the first one
/// before its timeslice was over, and if the second came within a round: while a task waits, the
/// others leave the engine after their timeslices (measured on an H100: a task gives it up at once
/// when it has nothing queued). So a tenant without requests waits for nothing, and what a task
/// waits for after it was idle is not counted.
class Demand {
  public:
    /// In the order of time.
    /// @param timeslice of the task; none: not known
    /// @param round the longest that a task with work waits for its turn
    /// @returns how long the task has waited for this turn, if it did and this is its first part
    std::optional<Ns> add(const TenantTurn &turn, std::optional<Ns> timeslice, Ns round);
    /// Some turns may be missing here.
    void lose();
    /// Tenants get other numbers: @p now by the old ones; none: it is there no more.
    void renumber(std::span<const std::optional<std::size_t>> now);
    /// By tenant, since the last call. A wait counts when it ends.
    std::vector<Observation> take(std::size_t tenants);

  private:
    using Task = std::pair<std::size_t, std::uint64_t>;

    struct Counted {
        Observation now;
        Ns until = 0; ///< of Observation::backlogged: tasks of a tenant may wait at the same time
    };
    Counted &of(std::size_t tenant);
    void cover(std::size_t tenant, Ns begin, Ns end);

    std::map<Task, Ns> held_;  ///< of turns that go on: so long
    std::map<Task, Ns> waits_; ///< since then
    std::vector<Counted> tenants_;
};

} // namespace qos
