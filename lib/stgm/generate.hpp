// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Task sets at random by the paper's Table I, and how kernels speed up with SMs.
#pragma once

#include <array>

#include "random.hpp"
#include "taskset.hpp"

namespace stgm {

/// The number of SMs for which the drawn length of a kernel holds; the paper leaves it open.
enum class Reading {
    full, ///< all SMs: on fewer it takes longer
    one,  ///< one SM: on more it takes less
};

/// How a kernel speeds up with SMs: a part `serial` of its time on one SM does not get shorter, and
/// SMs beyond `most_sms` have no effect.
struct Profile {
    const char *name;
    double serial;
    std::size_t most_sms;
};
/// Made-up profiles in the shapes that the paper's Figure 3 describes: two of eight gain nothing
/// beyond 4 SMs.
inline constexpr std::array<Profile, 8> profiles{{{"backprop", 0.05, 13},
                                                  {"b+tree", 0.10, 10},
                                                  {"hotspot", 0.02, 13},
                                                  {"kmeans", 0.20, 4},
                                                  {"streamcluster", 0.10, 8},
                                                  {"mmul", 0.00, 13},
                                                  {"stereodisparity", 0.05, 11},
                                                  {"workzone", 0.30, 4}}};

/// The ranges of Table I, by which sets are drawn. Times are in microseconds.
struct Table {
    std::uint32_t sms = 13;
    std::optional<std::uint32_t> cores; ///< empty: 2 to 4
    std::optional<std::uint32_t> tasks; ///< empty: 2 to 4 for each core
    /// The sum of all tasks' utilisations, which UUniFast-discard divides. If empty, the
    /// utilisation of each task is drawn by itself.
    std::optional<double> utilisation;
    double least_utilisation = 0.05, most_utilisation = 0.3; ///< of each task
    Reading reading = Reading::full;
};

/// Draws a set without cores and SMs by the table. Fails if its tasks cannot have the utilisation.
Outcome<TaskSet> generate(const Table &table, Random &random);

} // namespace stgm
