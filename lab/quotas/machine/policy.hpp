// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Which quota a kernel gets for an epoch, and what is kept of the last one: pure functions.
/// Sections and equations are those of the paper named in readings.hpp. Work is counted in thread
/// instructions (a warp instruction with n active lanes counts n) and speed in thread instructions
/// per cycle of the whole GPU; nothing here depends on that, so that a controller may count other
/// work in other time.
#pragma once

#include <span>
#include <vector>

#include "readings.hpp"

namespace qos {

/// The thread instructions of a kernel in a number of cycles.
struct Progress {
    std::int64_t instructions = 0, cycles = 0;
};

/// Returns α_k = max(IPC_goal / IPC_history, 1) of Section 3.4.2, with @p past for IPC_history.
/// Returns 1 if @p past has no cycles, which is so before the kernel's first epoch ends. If @p past
/// has cycles but no instructions, α_k raises the goal to @p peak, the most that the GPU can issue.
/// @param goal above 0
Rational alpha(const Rational &goal, const Progress &past, const Rational &peak,
               const Readings &readings);

/// Returns IPC_epoch / (α_k × IPC_goal) of a QoS kernel, Section 3.5.
/// @param last the epoch that ends
Rational attainment(const Progress &last, const Rational &alpha, const Rational &goal);

/// Returns the factor of the search (Section 3.5) from each QoS kernel's attainment(), or 1 if
/// there is no QoS kernel.
Rational search_factor(std::span<const Rational> attained, SearchOperator by);

/// Returns Quota_k = α_k × IPC_goal × T_epoch, equation (1) with Section 3.4.2, before rounding.
/// @param most the bound of a quota, or null
Rational quota(const Rational &goal, const Rational &alpha, std::int64_t epoch,
               const Rational *most);

/// Returns quota_k × T_i / T of Section 3.4.1 for each SM i.
/// @param blocks T_i; if all are 0, all shares are 0
std::vector<Integer> shares(const Rational &quota, std::span<const std::int64_t> blocks,
                            Rounding by);

/// The values of a kernel's counters that stay at the end of an epoch. New quotas are added to
/// them.
struct Kept {
    bool rests; ///< values above 0 stay
    bool debts; ///< values below 0 stay
};

/// Returns the values that stay when an epoch has lasted its time (Sections 3.4.1 to 3.4.4).
Kept kept(Scheme scheme, bool qos, const Readings &readings);

/// Returns the kept values of a kernel's counters, by SM. If rests are pooled, a kernel without any
/// block keeps its rests on their SMs.
/// @param counters, quotas, blocks by SM; quotas and blocks are of the epoch that begins
std::vector<std::int64_t> carried(std::span<const std::int64_t> counters,
                                  std::span<const std::int64_t> quotas,
                                  std::span<const std::int64_t> blocks, Kept what,
                                  const Readings &readings);

/// A kernel on an SM.
struct Seat {
    bool qos, resident, exhausted; ///< exhausted: its counter is 0 or less
};

/// The groups of kernels that have used up their quotas on an SM.
struct Exhausted {
    bool all = true, qos = true;

    void look_at(const Seat &seat, Absent absent) {
        if (seat.exhausted || (!seat.resident && absent == Absent::exempt))
            return;
        all = false;
        qos = qos && !seat.qos;
    }
};

/// Returns whether the kernel gets its quota again within the epoch (Section 3.4.1; 3.4.3 for
/// elastic).
bool is_refilled(const Seat &seat, const Exhausted &on_sm, Scheme scheme, const Readings &readings);

} // namespace qos
