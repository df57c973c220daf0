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

/// How a kernel speeds up: `serial` of its time on one SM does not, and none of it beyond
/// `most_sms`.
struct Profile {
    const char *name;
    double serial;
    std::size_t most_sms;
};
/// Made up, in the shapes that the paper's Figure 3 describes: two of eight gain nothing beyond 4
/// SMs.
inline constexpr std::array<Profile, 8> profiles{{{"backprop", 0.05, 13},
                                                  {"b+tree", 0.10, 10},
                                                  {"hotspot", 0.02, 13},
                                                  {"kmeans", 0.20, 4},
                                                  {"streamcluster", 0.10, 8},
                                                  {"mmul", 0.00, 13},
                                                  {"stereodisparity", 0.05, 11},
                                                  {"workzone", 0.30, 4}}};

/// Table I. Times in microseconds.
struct Table {
    std::uint32_t sms = 13;
    std::optional<std::uint32_t> cores; ///< empty: 2 to 4
    std::optional<std::uint32_t> tasks; ///< empty: 2 to 4 for each core
    /// Of all tasks, by UUniFast-discard; empty: each task's is drawn between the least and the
    /// most.
    std::optional<double> utilisation;
    double least_utilisation = 0.05, most_utilisation = 0.3;
    Reading reading = Reading::full;
};

/// Of the table's ranges, with no cores and SMs allocated. Fails if the utilisation cannot be that
/// of so many tasks.
Outcome<TaskSet> generate(const Table &table, Random &random);

} // namespace stgm
