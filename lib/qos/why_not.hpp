// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The reasons for which the last second of a goal says nothing, or missed the goal.
#pragma once

#include <array>

#include "governor.hpp"

namespace qos {

enum class WhyNot {
    no_demand,      ///< it had no work in a share or a speed
    refused,        ///< the promises on this GPU do not fit, so each of them is cut
    another_gpu,    ///< all of its processes use other GPUs
    cannot_be_seen, ///< its turns do not show whether it was kept (verdict.hpp), or are not on the
                    ///< record: switches were lost, or it is a client of an MPS server
    no_marks,       ///< an engine's goal, and none of its requests was marked lately
};

/// The reasons in JSON and in tables, in the order of WhyNot.
inline constexpr std::array<const char *, 5> reasons = {"no demand", "refused", "another GPU",
                                                        "cannot be seen", "no marks yet"};

constexpr const char *text_of(WhyNot why) {
    return reasons[static_cast<std::size_t>(why)];
}

/// The state of a tenant at the end of an epoch, beside its Record.
struct Surroundings {
    bool has_tasks; ///< on this GPU
    bool is_seen;   ///< all turns of its tasks in the second are on the record
    bool is_cut;    ///< EpochRecord::overcommitted
};

/// Returns why the last second of a share, a speed or a cap says nothing, or missed the goal. While
/// nothing is judged there is a reason only for a tenant without tasks.
inline std::optional<WhyNot> why_not(const Goal &goal, const Record &record,
                                     const Surroundings &about) {
    const bool has_promise = is_promised(goal.aim);
    if (!has_promise && !goal.cap)
        return std::nullopt;
    if (!about.has_tasks)
        return has_promise ? std::optional(WhyNot::no_demand) : std::nullopt;
    if (!record.is_judged)
        return std::nullopt;
    if (!about.is_seen || record.is_unseen)
        return WhyNot::cannot_be_seen;
    if (has_promise && !record.wants)
        return WhyNot::no_demand;
    if (has_promise && about.is_cut && !record.kept)
        return WhyNot::refused;
    return std::nullopt;
}

} // namespace qos
