// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Busy periods of a service that works in steps, as an LLM engine does: from a request at an
/// idle service until no request is in flight.
///
/// Between two steps the service's processor works for half a millisecond or so. A neighbour with
/// work takes the GPU in each of these pauses, and the next step waits for the end of its turn and
/// a switch: 0.2 to 0.27 ms in each step of some milliseconds. So the neighbours are paused for the
/// whole period, which changes them once in a period and not once in a step.
///
/// While they are paused, the record of switches does not show whether the service has work: a task
/// without work stays on the GPU while no other one comes. So from time to time the neighbours run
/// for a moment, which is a probe. Either the service comes back soon after it has left the GPU, and
/// they are paused again, or its period is over. Probes come when the period is twice as old as at the
/// last one, up to a longest time, so that the neighbours do not wait for long after a short period.
///
/// A service may also mark when it is busy and when it is idle (mark()). Then a period begins and ends
/// at once, and probes are rare. They still show a service without a mark that it is idle.
///
/// The bounds: in a period the service waits for a probe once in `probe_every`, and for three more in
/// its first 25 ms. A probe ends when the service has come back `returns_for_hold` times, so that it has
/// three to five short turns of the neighbours: 0.8 to 1.4 ms on an H200 (docs/llm.md, Without marks).
/// After a period the neighbours wait for that time at most, or for as long as the period has lasted, a
/// request to the driver for each, and `longest_pause`. At the beginning of a period the service waits
/// for `returns_for_hold` short turns, and for those until the next look.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>

#include "demand.hpp"

namespace qos {

class Periods {
  public:
    /// A service that comes back to the GPU later was idle. A neighbour makes good use of a longer
    /// pause, so that it does not lose one that is longer.
    static constexpr Ns longest_pause = 2 * ms;
    static constexpr Ns first_probe = 5 * ms, probe_every = 25 * ms,
                        probe_every_if_marked = 500 * ms;
    /// A period begins when the service came back so often in a row. On several GPUs it is more often,
    /// because a period costs the neighbours the time until a probe on all of them.
    static constexpr int returns_for_hold = 3, returns_for_hold_on_several = 24;
    /// The time between two looks while the neighbours run, if there was a period in the last
    /// `remembered`; else the service is looked at when an epoch ends. On several GPUs a period takes
    /// longer to begin, and each look is a call to the driver for each of them.
    static constexpr Ns look_every = 5 * ms, look_every_on_several = 20 * ms,
                        remembered = 10 * second;
    static constexpr Ns look_in_probe = ms; ///< the time between two looks in a probe
    /// The timeslice of a service that has periods: longer than the time between two probes and a step,
    /// so that the neighbours come in a pause, and not in the midst of a step.
    static constexpr Ns service_slice = 64 * ms;
    /// A probe without a verdict in this time ends the period: no neighbour has work, or turns were lost.
    static constexpr Ns longest_probe = service_slice + probe_every;
    /// Marks change periods no more often than this, so that a service with many marks does not keep the
    /// driver busy.
    static constexpr Ns between_marks = 5 * ms;
    /// Each pause of a task is a request to the driver, so that more of them are not worth it.
    static constexpr std::int64_t most_neighbours = 4;

    /// Adds a turn, in the order of time.
    void add(const TenantTurn &turn, bool is_service);
    /// Notes whether the service has a request, by its own marks; empty: it makes none.
    void mark(std::optional<bool> busy);
    /// Forgets the turns so far, because some may be missing.
    void lose();
    /// @param returns the service has to come back so often in a row; 0: no neighbour may be paused for it
    /// @param seen all turns until now were added; else needs_turns() has to be false
    void step(Ns now, int returns, bool seen);

    /// Returns whether the neighbours are paused.
    bool holds() const { return state_ == State::held; }
    /// Returns whether the service is in a period, or had one in the time that is `remembered`.
    bool has_period() const {
        return state_ != State::open ||
               (held_until_ != never && looked_at_ - held_until_ < remembered);
    }
    /// Does step() at @p now decide by turns until then?
    bool needs_turns(Ns now) const { return state_ != State::held && now >= due(); }
    /// Returns when step() has something to decide; `never`: at the end of an epoch.
    Ns due() const;
    static constexpr Ns never = std::numeric_limits<Ns>::max();

  private:
    enum class State { open, held, probe };

    void enter(State state, Ns now);
    Ns until_probe() const {
        return marked_ == true ? probe_every_if_marked
                               : std::clamp(since_ - began_, first_probe, probe_every);
    }
    Ns usual_due() const;

    State state_ = State::open;
    Ns since_ = 0;          ///< of state_
    Ns began_ = 0;          ///< the present period
    Ns looked_at_ = 0;      ///< with all turns
    Ns held_until_ = never; ///< the end of the last period; never: there was none
    /// When the last turn of the service ended; empty: it goes on, or none is known.
    std::optional<Ns> left_ = {};
    bool has_neighbour_come_ = false; ///< since the service left the GPU, or a probe began
    int returns_ = 0;                 ///< in a row, each after a short time
    bool is_away_ = false;            ///< it has left the GPU for longer
    std::optional<bool> marked_ = {}; ///< mark()
    bool is_news_ = false;            ///< marked_ was not carried out yet
    int returns_for_hold_ = 0;        ///< of the last step
};

} // namespace qos
