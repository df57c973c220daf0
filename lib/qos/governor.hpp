// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Decides timeslices and pauses on one GPU from the turns of its tenants. It has no clock:
/// times are those of the turns and of its caller.
#pragma once

#include "cap.hpp"
#include "periods.hpp"
#include "plan.hpp"
#include "verdict.hpp"
#include "waits.hpp"

namespace qos {

/// The timeslice and the pause to set for a tenant.
struct Lever {
    Ns timeslice = 0; ///< of each of its TSGs
    bool paused = false;
    bool operator==(const Lever &) const = default;
};

/// The state of a tenant at the end of an epoch.
struct Record {
    Observation seen; ///< its turns in the epoch (demand.hpp)
    Account account;
    Balance second; ///< the second up to the end of the epoch, or a longer window (window_of())
    bool kept;      ///< false: the goal was missed in that time
    /// The part of the time that it would use alone, at most; nullopt: it had no work.
    std::optional<Part> wants = std::nullopt;
    bool is_unseen = false; ///< the turns do not show whether the goal was kept
    bool is_judged = true;  ///< false: `kept` is a forecast (Ledger::is_judged())
};

struct EpochRecord {
    Ns begin, end;
    Ns round;           ///< of the next epoch
    bool overcommitted; ///< whether the next epoch has too little time for all promises
    std::vector<Record> tenants;
};

class Governor {
  public:
    /// @param goals of the tenants; tasks without a tenant are one of them, too
    /// @param planner has the decisions of each epoch, from the plan of all GPUs
    Governor(Settings settings, const std::vector<Goal> &goals, Ns now,
             Planner planner = plan_alone);

    /// Sets how many TSGs of a tenant compete for the GPU; 0: it is not there. Takes effect with
    /// the next step().
    void set_tsgs(std::size_t tenant, std::int64_t tsgs);
    /// Sets whether a tenant's tasks have the timeslice of its lever, as far as the caller knows.
    /// It is true at first. While it is false, turns that are longer than the timeslice do not show
    /// that no other task had work.
    void set_in_effect(std::size_t tenant, bool in_effect) { in_effect_[tenant] = in_effect; }
    bool is_in_effect(std::size_t tenant) const { return in_effect_[tenant]; }
    /// Sets whether the tenant has tasks on other GPUs that need each other. It is false at first. A
    /// neighbour that has such tasks is paused for the busy periods of a service (periods.hpp) only if
    /// the service has such tasks, too.
    void set_spans(std::size_t tenant, bool spans) { spans_[tenant] = spans; }
    bool spans(std::size_t tenant) const { return spans_[tenant]; }
    /// Sets whether a tenant has a request, by marks of its processes; empty: they make none. It is of
    /// use with Aim::latency, and takes effect with the next step().
    void mark(std::size_t tenant, std::optional<bool> busy) { marked_[tenant] = busy; }
    std::optional<bool> marked(std::size_t tenant) const { return marked_[tenant]; }
    /// Adds a turn, in the order of time; turns until now are added before step(now).
    void add(const TenantTurn &turn);
    /// Replaces all goals. What was settled of tenants that stay is kept, and the epoch goes on.
    /// @param before for each tenant which of the old ones it is, with the same goal; none: a new
    /// one
    void set_goals(const std::vector<Goal> &goals,
                   std::span<const std::optional<std::size_t>> before, Ns now);
    /// Sets how long a pause takes now, from the time when step() is due until nothing of the task
    /// runs. If that is more than Costs::pause, tasks are paused so much earlier, as far as the
    /// smallest cap still leaves its task runs.
    void set_pause(Ns takes);
    /// Notes that turns are missing between the last one and the next.
    void lose() {
        demand_.lose();
        periods_.lose();
    }

    /// Does step() at @p now decide by turns until then? Not where it only ends pauses.
    bool needs_turns(Ns now) const;
    /// Returns the epoch that ends at @p now, if one does.
    /// @param seen all turns until now were added; else needs_turns() has to be false
    std::optional<EpochRecord> step(Ns now, bool seen = true);
    /// Returns the earliest time at which step() has something to decide, if no turn comes before.
    Ns due() const;

    const Lever &lever(std::size_t tenant) const { return levers_[tenant]; }
    /// Returns the credit of a cap, or what a promise is owed; 0 for a tenant with neither.
    Ns credit(std::size_t tenant) const;
    /// Returns how long the tenant's tasks waited for turns while they certainly had work (Demand),
    /// since the beginning.
    const Waits &waits(std::size_t tenant) const { return waits_[tenant]; }
    const std::vector<Entrant> &entrants() const { return entrants_; }
    const Settings &settings() const { return settings_; }

  private:
    void enter(const Goal &goal, bool hurried, Ns now);
    /// Returns the plan for the next epoch.
    /// @param seen by tenant in the epoch that ends; empty: none ends
    Plan make_plan(std::vector<Observation> seen) const;
    void apply(Ns now);
    bool is_paused_for_another(std::size_t tenant) const;
    Ns pause_end(std::size_t tenant) const;
    int returns_for_hold() const;
    std::optional<bool> marks_of_services() const;
    std::optional<SliceLength> slice_of(const TenantTurn &turn, bool is_cut) const;

    Planner planner_;
    Settings settings_;
    Ns usual_pause_; ///< Costs::pause as it was given
    std::vector<Entrant> entrants_;
    std::vector<Account> accounts_;
    std::vector<std::optional<Cap>> caps_;
    std::vector<Ledger> ledgers_;
    std::vector<Waits> waits_;
    std::vector<Lever> levers_;
    std::vector<Ns> before_;                  ///< timeslices in the previous epoch
    std::vector<bool> in_effect_;             ///< set_in_effect()
    std::vector<bool> spans_;                 ///< set_spans()
    std::vector<std::optional<bool>> marked_; ///< mark()
    std::vector<Span> pauses_;                ///< the last one of each tenant, by its levers
    Demand demand_;
    Periods periods_;
    std::vector<Observation> seen_; ///< in this epoch so far, for Scheme::elastic
    Plan plan_;
    Ns begin_;
    Ns pause_due_ = 0;     ///< when the next Decision::pause ends; 0: all of them are over
    Ns changed_at_ = 0;    ///< when a timeslice was last changed
    bool changed_ = false; ///< a number of TSGs, since the plan was made
};

} // namespace qos
