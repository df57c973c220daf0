// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Keeps the goals of one GPU: takes the turns of its tenants as they are seen, and holds
/// what they are to have now. It has no clock; times are those of the turns and its caller's.
#pragma once

#include "cap.hpp"
#include "ledger.hpp"

namespace qos {

/// What a tenant is to have.
struct Lever {
    Ns timeslice = 0; ///< of each of its TSGs
    bool paused = false;
    bool operator==(const Lever &) const = default;
};

/// A tenant in the epoch that has ended.
struct Record {
    Observation seen;
    Account account;
    Balance second; ///< up to its end
    bool kept;
};

struct EpochRecord {
    Ns begin, end;
    Ns round;           ///< of the next one
    bool overcommitted; ///< is the next one?
    std::vector<Record> tenants;
};

class Governor {
  public:
    /// @param goals of the tenants; tasks without a tenant are one of them, too
    Governor(Settings settings, std::vector<Goal> goals, Ns now);

    /// It has so many TSGs that compete for the GPU; 0: it is not there. In effect with the next
    /// epoch, or at once where it is about which of them is there.
    void set_turns(std::size_t tenant, std::int64_t turns);
    /// In the order of time; those until now come before step(now).
    void add(const TenantTurn &turn);
    /// Turns were lost here.
    void lose() { demand_.lose(); }

    /// Returns the epoch that ends at @p now, if one does.
    std::optional<EpochRecord> step(Ns now);
    /// When step() has something to decide at the earliest, unless a turn comes.
    Ns due() const;

    const Lever &lever(std::size_t tenant) const { return levers_[tenant]; }
    /// A cap's credit, or what a promise is owed; 0: it has neither.
    Ns credit(std::size_t tenant) const;
    const std::vector<Entrant> &entrants() const { return entrants_; }
    const Settings &settings() const { return settings_; }

  private:
    void apply();

    Settings settings_;
    std::vector<Entrant> entrants_;
    std::vector<Account> accounts_;
    std::vector<std::optional<Cap>> caps_;
    std::vector<Ledger> ledgers_;
    std::vector<Lever> levers_;
    Demand demand_;
    std::vector<Observation> seen_; ///< in this epoch so far, for Scheme::elastic
    Plan plan_;
    Ns begin_;
    bool changed_ = false; ///< the tenants that are there
};

} // namespace qos
