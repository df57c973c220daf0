// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Speeds of tasks that run on the GPU at the same time (MPS), by the launches that end:
/// which tasks have to hold theirs. It is the paper's quota with launches for instructions: a
/// tenant that is behind its goal runs alone, one that is ahead of it waits, and in between all
/// run.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "goal.hpp"

namespace qos {

/// A tenant's launches so far, all processes together; none of the numbers goes back.
struct Launched {
    std::uint64_t launched = 0, ended = 0;
    Ns ended_at = 0; ///< when `ended` grew last
    /// Some are in flight for certain. Others may be, too, or have ended: that is seen later.
    bool waits = false;
    bool operator==(const Launched &) const = default;
};

/// Keeps the speeds of tenants by holding launches. If one goal needs launches to be held, the
/// launches of all tasks must be held: a task that is not held is not slowed for the others.
class Pacer {
  public:
    struct Times {
        Ns step = 4 * ms;    ///< until the next step
        Ns band = 5 * ms;    ///< a tenant may be ahead or behind by so much of its time alone
        Ns first = 100 * ms; ///< until the first look; earlier launches are not counted
        /// The speed alone is seen while the others are held. Their launches end within this.
        Ns drain = 60 * ms;
        Ns count = 40 * ms;       ///< the shortest look
        std::uint64_t least = 20; ///< the fewest launches that end a look
        Ns longest = 300 * ms;    ///< the longest look, whatever the launches
        Ns soon = 1500 * ms;      ///< from one look to the next, as long as there were few looks
        Ns again = 10 * second;   ///< from one look to the next, later
        /// A tenant has no work if no launch was made or ended for this time. The time is longer if
        /// launches are in flight.
        Ns idle = 20 * ms;
    };

    /// @param goals parts of the speed alone, by tenant
    Pacer(const std::vector<Part> &goals, Ns now) : Pacer(goals, now, Times()) {}
    Pacer(const std::vector<Part> &goals, Ns now, const Times &times);

    /// Decides what is held until the next step, which is due after some milliseconds.
    /// @param seen by tenant
    /// @param drained no launch of a held task runs any more
    /// @param others have work; without any, a tenant that is ahead does not wait
    /// @param counts launches that end now show a speed alone, if nothing else runs
    void step(Ns now, std::span<const Launched> seen, bool drained, bool others,
              bool counts = true);

    bool holds(std::size_t tenant) const { return tenants_[tenant].held; }
    /// Returns whether the tasks without a goal are held.
    bool holds_others() const { return holds_others_; }
    /// Returns whether they are held for a look at a tenant's speed alone.
    bool is_looking() const { return look_.has_value(); }

    /// Returns the tenant's speed in the last second with work, as a part of its speed alone;
    /// nullopt if it had no work, or if its speed alone is not known.
    std::optional<Part> speed(std::size_t tenant) const;
    /// Returns the tenant's launches a second while it is alone, the most of the last looks; 0: not
    /// known.
    double alone(std::size_t tenant) const;

  private:
    enum class State { even, behind, ahead };
    /// Launches in a time.
    struct Rate {
        std::int64_t launches = 0;
        Ns time = 0;
    };
    struct Second {
        Ns at, work, done; ///< sums until then: time with work; time alone that its launches take
    };
    struct Tenant {
        Part goal;
        State state = State::even;
        bool held = false;
        Ns credit = 0;    ///< of its time alone
        Ns unsettled = 0; ///< time since the last launch ended: work, or none
        Ns open = 0;      ///< the time taken from its credit since that end
        Launched last = {};
        Ns moved_at = 0;  ///< a launch was made, or one ended
        Ns held_at = 0;   ///< the last time that it was held
        Ns behind_at = 0; ///< since when it is behind
        bool idle = true;
        std::deque<Rate> alone = {};
        Ns work = 0, done = 0;
        std::deque<Second> seconds = {};
    };
    /// A look at the speed alone of one tenant.
    struct Look {
        std::size_t tenant;
        Ns began;
        bool counts = false;
        Launched first = {};
    };

    static Rate fastest(const Tenant &tenant);
    static Ns due_for(const Tenant &tenant, Ns time);
    static Ns alone_time_in_flight(const Tenant &tenant);
    static Ns credit(const Tenant &tenant);
    void settle(Tenant &tenant, Ns now, Ns passed, const Launched &seen);
    void continue_look(Ns now, std::span<const Launched> seen, bool drained, bool counts);
    void end_look(Ns now);
    bool stays_behind(const Tenant &tenant, Ns now) const;
    void begin_look(Ns now);
    void decide(Ns now, bool others);

    const Times times_;
    std::vector<Tenant> tenants_;
    std::vector<Ns> look_due_; ///< by tenant
    std::optional<Look> look_;
    bool holds_others_ = false;
    Ns at_;
};

} // namespace qos
