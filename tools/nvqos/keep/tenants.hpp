// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The tenants of one GPU, a row for each, with its goal and the time that it had on the GPU
/// since the goal is kept. The Governor numbers tenants in the same order.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lib/qos/demand.hpp"
#include "lib/qos/waits.hpp"
#include "missed.hpp"
#include "tools/nvqos/goals.hpp"

namespace nvqos {

/// The time that a tenant had on a GPU since its goal is kept.
struct Use {
    qos::Ns time = 0, used = 0;
    std::optional<qos::Part> part = {}; ///< qos::part_of() of these
    qos::Waits waits = {};              ///< for its turns, while it had work
    /// The time that the epochs stand for in which the goal was kept, and of those that do not show
    /// it; empty: no epoch has ended.
    std::optional<qos::Ns> kept = {}, unseen = {};
};

/// The use of the tenant with the family.
struct FamilyUse {
    std::shared_ptr<Family> family;
    Use use;
};

/// A tenant with a goal that is kept on a GPU.
struct KeptTenant {
    Tenant asked;       ///< the tenant and its goal; the last row's name is `others`
    qos::Ns since = 0;  ///< when its goal began, by the GPU's clock
    qos::Ns used = 0;   ///< time on the GPU since then
    Missed missed = {}; ///< epochs in which the goal was not kept, also if there are none
};

/// One row for each tenant in Goals::tenants, and a last row for all tasks without a tenant. Goals
/// are rolled back by assigning a copy.
class Tenants {
  public:
    /// Begins to keep the goals at @p now.
    Tenants(const Goals &goals, qos::Ns now);

    /// Replaces the goals. A tenant with the same goal as before keeps its row, so that it keeps
    /// what it is owed. Returns by tenant the number of its previous row, if it had one.
    std::vector<std::optional<std::size_t>> replace(const Goals &goals, qos::Ns now);
    /// Begins all goals again: what tenants had up to now does not count.
    void begin(qos::Ns now);
    /// Adds a turn to what its tenant had. The part before the tenant's goal began does not count.
    void add_use(const qos::TenantTurn &turn);
    /// Counts, at the end of an epoch, whether the tenant's goal was kept in it; empty: that could
    /// not be seen.
    /// @param time now, as utc_now() returns it
    void note(std::size_t tenant, std::optional<bool> is_kept, const std::string &time);

    const Goals &goals() const { return goals_; }
    std::size_t size() const { return rows_.size(); }
    /// Returns the number of the row that stands for all tasks without a tenant.
    std::size_t others() const { return rows_.size() - 1; }
    /// Returns the names of the rows for windows. No two rows have the same one, and those of a
    /// tenant on several GPUs are the same.
    const std::vector<std::string> &keys() const { return keys_; }
    const KeptTenant &operator[](std::size_t tenant) const { return rows_[tenant]; }
    const qos::Goal &goal(std::size_t tenant) const { return rows_[tenant].asked.goal; }
    /// Returns whether the tenant's tasks on several GPUs wait for each other. Tasks without a tenant
    /// do not.
    bool is_gang(std::size_t tenant) const {
        return tenant != others() && rows_[tenant].asked.gang != Gang::off;
    }
    bool is_on_other_nodes(std::size_t tenant) const {
        return tenant != others() && rows_[tenant].asked.gang == Gang::nodes;
    }
    /// Returns the goals by tenant, as a Governor takes them.
    std::vector<qos::Goal> list() const;
    /// Returns the goals that were not kept, or could not be seen, at the end of some epochs, also
    /// goals that have ended.
    std::vector<Missed> missed() const;

  private:
    Goals goals_;
    std::vector<KeptTenant> rows_;
    std::vector<std::string> keys_;   ///< by row
    std::vector<Missed> past_missed_; ///< of goals that have ended
};

} // namespace nvqos
