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

/// Where launches are held for a goal, all of them must be: of a tenant that is not, its neighbours
/// are not slowed.
class Pacer {
  public:
    struct Times {
        Ns step = 4 * ms;    ///< until the next step
        Ns band = 5 * ms;    ///< a tenant may be ahead or behind by so much of its time alone
        Ns first = 100 * ms; ///< until the first look: what was launched before is not counted
        /// The speed alone is seen while the others are held. Their launches end within this.
        Ns drain = 60 * ms;
        Ns count = 40 * ms;       ///< for so long at least launches are counted then, and
        std::uint64_t least = 20; ///< so many of them,
        Ns longest = 300 * ms;    ///< but no longer
        Ns soon = 1500 * ms;      ///< from one look to the next, while there were few
        Ns again = 10 * second;   ///< later
        /// Without a launch that is made or ends: it has no work. Longer if some are in flight.
        Ns idle = 20 * ms;
    };

    /// @param goals parts of the speed alone, by tenant
    Pacer(const std::vector<Part> &goals, Ns now) : Pacer(goals, now, Times()) {}
    Pacer(const std::vector<Part> &goals, Ns now, const Times &times);

    /// Decides what is held until the next step, which is due after some milliseconds.
    /// @param seen by tenant
    /// @param drained of what is held, nothing runs any more
    /// @param others have work; without any, a tenant that is ahead does not wait
    /// @param counts what ends now shows a speed alone, if nothing else runs
    void step(Ns now, std::span<const Launched> seen, bool drained, bool others,
              bool counts = true);

    bool holds(std::size_t tenant) const { return tenants_[tenant].held; }
    /// Are the tasks without a goal held?
    bool holds_others() const { return holds_others_; }
    /// Returns whether the others are held for a look at the tenant's speed alone.
    bool is_looking() const { return look_.has_value(); }

    /// Of the last second with work: its speed, as a part of that alone. None: it had no work, or
    /// its speed alone is not known.
    std::optional<Part> speed(std::size_t tenant) const;
    /// Launches a second while it is alone, the most of the last looks; 0: not known.
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
        Ns open = 0;      ///< time taken from its credit since then
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
