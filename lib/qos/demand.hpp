// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file From turns of tenants on an engine: how long each had it, and how long each had work.
///
/// Turns show when a task had the engine. They do not show when it wanted it, so that is concluded
/// from how turns end:
///
/// - A turn that its timeslice ended left work behind. The task waits until its next turn.
/// - A task that leaves the engine earlier has nothing queued: it gives way at once (measured on an
///   H100). From then on its processor works ("thinks"), and at some time it queues more. While the
///   next task's turn lasts as long as its timeslice, it is not seen when. The whole time until the
///   next turn then counts as work, since the task may have waited for all of it.
/// - A turn goes on beyond its timeslice as long as no other task has work. So if the turn before
///   the task's own went on like that, the task was idle until then. Other tasks that had two turns
///   meanwhile show the same: a task with work would have come in between.
///
/// What a task wants is therefore never estimated as less than it is. It is estimated as more,
/// until timeslices of the others are shorter than its pauses.
///
/// Two more things are not visible. Pauses longer than longest_pause are taken for an absence. A
/// context without work stays on the engine while no other one comes, so that a turn beyond its
/// timeslice may have been idle in part: Observation::alone. A shorter turn that ends as a task
/// comes which had given way may have been idle, too. Its work is then taken for no more than the
/// shortest of the last bursts: Observation::stayed.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "goal.hpp"

namespace qos {

/// The least and the most time that turns allow.
struct Range {
    Ns least = 0, most = 0;
    void add(const Range &other, Ns sign) {
        least += sign * other.least;
        most += sign * other.most;
    }
    bool operator==(const Range &) const = default;
};

/// How much of a tenant's time was work and how much was not, as far as its turns show that. Goals are
/// judged by these bounds (verdict.hpp), and no lever depends on them but for what turns lose.
struct Bounds {
    Range
        lost; ///< the part of its turns in which its work made no progress, as timeslices end them
    Range paused; ///< pauses between its turns
    Range rested; ///< the part of its turns in which it had no work
    Ns open = 0;  ///< Observation::alone while no burst and pause tell how much of it was work
    /// The number of epochs in which bursts looked as those of a processor that launches small kernels
    /// just in time. It may make up for waits, so that its pauses alone would be longer.
    std::int64_t just_in_time = 0;

    void add(const Bounds &other, Ns sign) {
        lost.add(other.lost, sign);
        paused.add(other.paused, sign);
        rested.add(other.rested, sign);
        open += sign * other.open;
        just_in_time += sign * other.just_in_time;
    }
    bool operator==(const Bounds &) const = default;
};

/// One tenant in an epoch.
struct Observation {
    Ns used = 0;            ///< it had the engine
    Ns backlogged = 0;      ///< it had the engine, or may have waited for it
    std::int64_t turns = 0; ///< turns that ended
    Ns idle = 0;            ///< pauses between its turns, in which it certainly had no work
    Ns alone = 0; ///< the part of `used` in which no other task wanted the engine, and it may have
                  ///< been idle
    Ns burst =
        0; ///< the usual work between two pauses; 0: it makes no pauses, or they are not known
    Ns pause = 0;  ///< how long such a pause takes at most: a quarter of the bounds that were seen
                   ///< are shorter, in the epoch of the last few that shows it best; 0 without
                   ///< `burst`
    Ns stayed = 0; ///< the part of `used` in which it probably had no work, until another task came
    Bounds bounds = {};
    bool operator==(const Observation &) const = default;

    /// Returns the part of Observation::alone in which the tenant was idle, as far as its bursts
    /// and pauses tell, and of Observation::stayed.
    Ns idle_alone() const { return stayed + (burst > 0 ? scaled(alone, pause, burst + pause) : 0); }
};

/// A tenant on the engine. Of a turn that goes on when an epoch ends there are several, one after
/// the other.
struct TenantTurn {
    std::size_t tenant;
    std::uint64_t task; ///< any number, another one for each context
    Ns begin, end;
    bool ends; ///< it left the engine
};

/// How long a turn is that its timeslice ends.
struct SliceLength {
    Ns least; ///< a shorter turn gave way
    Ns most;  ///< a longer one went on because no other task had work
    /// A turn in between was ended by its timeslice. False: it may have given way as well.
    bool is_sure = true;
    Ns timeslice = 0; ///< 0: not known
};

class Demand {
  public:
    /// A task that does nothing for longer is away: it does not think between two bursts.
    static constexpr Ns longest_pause = 120 * ms;
    /// The turns of the others bound how long pauses are. A bound from shorter turns holds for so
    /// many epochs, but not longer than until a pause is seen that exceeds it.
    static constexpr std::size_t kept_bounds = 9;

    /// Adds a turn. Turns come in the order of time.
    /// @param slice of the task; nullopt: it is not known how the turn ended, and what the task
    /// does until its next turn is not counted
    /// @param round the longest that a task with work waits for its turn
    /// @returns how long the task has waited for this turn, if it certainly did and this is the
    /// first part of the turn
    std::optional<Ns> add(const TenantTurn &turn, std::optional<SliceLength> slice, Ns round);
    /// Forgets turns that go on and waits, because some turns may be missing here.
    void lose();
    /// Gives tenants other numbers: @p now by the old ones; nullopt: the tenant is gone.
    void renumber(std::span<const std::optional<std::size_t>> now);
    /// Returns what was seen since the last call, by tenant. A wait counts when it ends.
    std::vector<Observation> take(std::size_t tenants);

  private:
    using Task = std::pair<std::size_t, std::uint64_t>;

    /// A task between two turns.
    struct Wait {
        Ns since;
        bool is_certain; ///< its timeslice ended its turn
        bool is_sure;    ///< nothing but its timeslice can have ended it so early
    };
    /// A task with its turns.
    struct Past {
        Ns held = 0;         ///< in the turn that goes on
        bool is_on = false;  ///< a turn goes on
        Ns work = 0;         ///< since its last pause
        bool knows = false;  ///< `work` begins at a pause
        Ns ended = 0;        ///< its last turn
        Ns ended_before = 0; ///< the turn before that
        std::optional<Wait> wait;
    };
    struct Counted {
        Observation now;
        Ns until = 0; ///< of Observation::backlogged: tasks of a tenant may wait at the same time
        std::deque<Ns> bursts, pauses; ///< the last ones of its tasks
        std::deque<Ns> seen_pauses;    ///< the last ones that other turns show from begin to end
        std::deque<Ns> seen_bursts; ///< the last bursts at whose ends another task certainly waited
        std::deque<Ns> many_bursts; ///< as `bursts`, but more of them
        std::deque<Ns> whole;  ///< the last bursts at whose ends another task waited for its turn
        std::deque<Ns> bounds; ///< of its pauses in the last epochs (Demand::kept_bounds)
        /// Turns beyond their timeslices in this epoch, and how many of them ended as a later timeslice
        /// does.
        std::int64_t longer = 0, cut_later = 0;
    };
    /// The last turn that ended.
    struct Last {
        Task task;
        Ns end;
        bool went_on; ///< beyond its timeslice
        Ns burst;     ///< the work that ended with it; 0: none did, or its length is not known
        Ns held;      ///< its length, all parts together
    };
    Counted &of(std::size_t tenant);
    Ns cover(std::size_t tenant, Ns begin, Ns end);
    Ns wanted_from(const Wait &wait, const Task &task, Ns begin, Ns round) const;
    void note_stay(const TenantTurn &next, const Wait &wait);
    static Ns rest_between_bursts(const Counted &counted, Ns held);
    static Ns longest_rest(const Counted &counted, Ns burst, Ns held);
    static bool works_to_the_end(const Counted &counted);
    static void bound_pause(Counted &counted, Ns most, bool may_be_cut);
    Ns longest_pause_of(std::size_t tenant);
    void note_pause(const TenantTurn &next, const Wait &wait);
    void end_unknown_turn(const TenantTurn &turn, Past &past);
    void end_turn(const TenantTurn &turn, Past &past, const SliceLength &slice);

    std::map<Task, Past> tasks_;
    std::optional<Last> last_;
    std::vector<Counted> tenants_;
};

} // namespace qos
