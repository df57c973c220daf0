// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file How many sets at random are schedulable by each analysis: the paper's Figures 4 and 5.
#pragma once

#include <functional>

#include "allocate.hpp"
#include "generate.hpp"

namespace stgm {

/// A line of the figures: an analysis and an allocation, on sets of one reading.
struct Curve {
    std::string name;
    Reading reading;
    /// Kernels take as long on any number of SMs as on one. The published gain appears only if the
    /// baselines' kernels do so.
    bool fixed;
    Options options;
    Algorithm algorithm;
};
std::vector<Curve> curves();

struct Count {
    std::uint64_t sets = 0, schedulable = 0;
    /// Sums of the utilisations of all sets, and of the schedulable sets, in millionths per core.
    std::uint64_t weight = 0, weight_schedulable = 0;
    std::uint64_t weight_squares = 0; ///< sum of the squares of all sets' utilisations

    double part() const {
        return sets ? static_cast<double>(schedulable) / static_cast<double>(sets) : 0;
    }
    /// Returns the part of sets that are schedulable, weighted by utilisation (Bastoni, Brandenburg
    /// and Anderson 2010).
    double weighted() const {
        return weight ? static_cast<double>(weight_schedulable) / static_cast<double>(weight) : 0;
    }
    /// Returns the number of sets of equal weight that would estimate weighted() as well (Kish).
    double effective_sets() const {
        const auto sum = static_cast<double>(weight);
        return weight_squares ? sum * sum / static_cast<double>(weight_squares) : 0;
    }
};

struct Interval {
    double low, high;
};
/// Returns the 95 % interval of Wilson for a part that was seen in @p count cases.
Interval wilson(double part, double count);

struct Figure {
    unsigned number; ///< the figure of the paper
    std::string axis;
    std::vector<std::uint32_t> points;
    std::vector<std::vector<Count>> counts; ///< counts[point][curve]
};

/// Computes figures 4 (over the tasks of a set) and 5 (over SMs).
/// @param progress is called with the number of sets done and of all, by any thread, one call at a
/// time
std::vector<Figure>
figures(std::uint64_t sets_a_point, std::uint64_t seed, unsigned threads,
        const std::function<void(std::uint64_t done, std::uint64_t all)> &progress);

} // namespace stgm
