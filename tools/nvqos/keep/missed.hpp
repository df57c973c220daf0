// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Goals that were not kept, in how many epochs and when, for the end of the program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/qos/goal.hpp"

namespace nvqos {

/// A goal that was not kept at the end of some epochs.
struct Missed {
    std::string tenant; ///< its name
    qos::Goal goal;
    std::uint64_t epochs = 0, of = 0;  ///< `of`: epochs in which it was to be kept
    std::string first = {}, last = {}; ///< when those epochs ended, UTC; empty: there are none

    void add(bool is_kept, const std::string &now);
};

/// Adds @p one to the entry of the same tenant and goal. Tenants may come and go without end, so
/// the list is bounded; the rest is in one entry without a name.
void add_missed(std::vector<Missed> &list, const Missed &one);

/// Returns `train: share 30 % was not kept at the end of 3 of 120 epochs, between … and …`.
std::string text_of(const Missed &missed);

} // namespace nvqos
