// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Speeds of tenants at an MPS server, which are kept by their launches: a qos::Pacer decides
/// whose launches are held, and for one tenant a qos::Division which TPCs it has for itself.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "launch_count.hpp"
#include "lib/qos/division.hpp"
#include "lib/qos/pacer.hpp"

namespace nvqos {

/// The speed of a tenant, as its launches show it.
struct Pace {
    std::optional<qos::Part> speed; ///< of the last second with work, as a part of that alone
    double alone_per_s = 0;         ///< launches a second when alone; 0: not known
    int tpcs = 0; ///< TPCs that it has for itself; 0: it has all, as the others do
    bool operator==(const Pace &) const = default;
};

class Pacing {
  public:
    struct Speed {
        std::size_t tenant;
        qos::Part part; ///< of the tenant's speed alone
        bool operator==(const Speed &) const = default;
    };

    /// Keeps these speeds from @p now on. Returns false, and changes nothing, if they are the same
    /// as before.
    bool set(const std::vector<Speed> &speeds, bool divides_tpcs, qos::Ns now);
    /// Returns whether TPCs are to be divided: there is one speed, and that was asked for.
    bool wants_division() const { return divides_tpcs_ && rows_.size() == 1; }
    /// Divides so many TPCs, 2 or more.
    void divide(int tpcs, qos::Ns now);

    /// Adds launches of a tenant's task.
    /// @param ended_at the time at which the last launch ended
    void add(std::size_t tenant, const LaunchCount::Progress &progress, qos::Ns ended_at);
    /// Adds launches of a task without a speed.
    void add_of_others(const LaunchCount::Progress &progress) { others_ended_ += progress.ended; }
    /// Removes launches in flight of a process that has ended.
    void add_ended(std::size_t tenant, std::uint64_t launches);
    /// A task without a speed has come.
    void others_changed();

    /// Forgets which tenants have launches in flight. add() finds it out again for the next step.
    void begin_step();
    /// Decides which launches are held until the next step.
    /// @param drained all launches of held tasks have ended
    /// @param others some task without a speed has work
    void step(qos::Ns now, bool drained, bool others);

    bool is_on() const { return pacer_.has_value(); }
    bool is_divided() const { return division_.has_value(); }
    bool holds(std::size_t tenant) const { return pacer_->holds(number_of(tenant)); }
    bool holds_others() const;
    /// Returns how many TPCs the tenant, or the others, have for themselves; 0: all.
    int tpcs_of_tenant() const { return division_ ? division_->of_tenant() : 0; }
    int tpcs_of_others() const { return division_ ? division_->of_others() : 0; }
    /// Returns nothing for a tenant without a speed.
    std::optional<Pace> pace(std::size_t tenant) const;

  private:
    struct Row {
        Speed speed;
        qos::Launched launched = {};
    };
    std::size_t number_of(std::size_t tenant) const;

    std::vector<Row> rows_; ///< in the order of the pacer
    bool divides_tpcs_ = false;
    std::optional<qos::Pacer> pacer_; ///< if there are any speeds
    std::optional<qos::Division> division_;
    std::uint64_t others_ended_ = 0; ///< launches of tasks without a speed
};

} // namespace nvqos
