// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Goals that were not kept, or could not be seen, in how many epochs and when, for the end of
/// the program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/qos/goal.hpp"

namespace nvqos {

/// A goal that was not kept, or could not be seen, at the end of some epochs.
struct Missed {
    std::string tenant; ///< its name
    qos::Goal goal;
    std::uint64_t epochs = 0, of = 0;  ///< `of`: epochs in which it was to be kept
    std::string first = {}, last = {}; ///< when those epochs ended, UTC; empty: there are none
    std::uint64_t unseen = 0;          ///< epochs in which nothing shows whether it was kept

    bool any() const { return epochs > 0 || unseen > 0; }
    /// Returns the part of @p time that @p count of the epochs stand for; empty: there are none.
    std::optional<qos::Ns> part_of(qos::Ns time, std::uint64_t count) const {
        return of ? std::optional(
                        qos::scaled(time, static_cast<qos::Ns>(count), static_cast<qos::Ns>(of)))
                  : std::nullopt;
    }
    /// @param is_kept empty: that could not be seen
    void add(std::optional<bool> is_kept, const std::string &now);
};

/// Adds @p one to the entry of the same tenant and goal. Tenants may come and go without end, so
/// the list is bounded; the rest is in one entry without a name.
void add_missed(std::vector<Missed> &list, const Missed &one);

/// Returns whether the goal was missed, or could not be seen, in more than one of 100 epochs, as
/// Exit::partial says.
bool is_too_often(const Missed &missed);

/// Returns `train: share 30 % was not kept at the end of 3 of 120 epochs, between … and …`, and how
/// many epochs could not be seen.
std::string text_of(const Missed &missed);

} // namespace nvqos
