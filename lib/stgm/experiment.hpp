// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file How many sets at random are schedulable by each analysis: the paper's Figures 4 and 5.
#pragma once

#include <functional>

#include "allocate.hpp"
#include "generate.hpp"

namespace stgm {

/// An analysis of sets of one reading.
struct Curve {
    std::string name;
    Reading reading;
    /// Kernels take as long on any number of SMs as on one: what the published gain needs of the
    /// baselines.
    bool fixed;
    Options options;
    Algorithm algorithm;
};
std::vector<Curve> curves();

struct Count {
    std::uint64_t sets = 0, schedulable = 0;
    /// Σ of utilisations in millionths per core: of all sets, of those that are schedulable.
    std::uint64_t weight = 0, weight_schedulable = 0;
    std::uint64_t weight_squares = 0; ///< of all sets

    double part() const {
        return sets ? static_cast<double>(schedulable) / static_cast<double>(sets) : 0;
    }
    /// Bastoni, Brandenburg and Anderson's: sets of more utilisation count more.
    double weighted() const {
        return weight ? static_cast<double>(weight_schedulable) / static_cast<double>(weight) : 0;
    }
    /// Number of sets of equal weight that would be as good an estimate of weighted() (Kish).
    double effective_sets() const {
        const auto sum = static_cast<double>(weight);
        return weight_squares ? sum * sum / static_cast<double>(weight_squares) : 0;
    }
};

struct Interval {
    double low, high;
};
/// Wilson's, of 95 %, of a part that was seen of @p count.
Interval wilson(double part, double count);

struct Figure {
    unsigned number; ///< of the paper
    std::string axis;
    std::vector<std::uint32_t> points;
    std::vector<std::vector<Count>> counts; ///< by point, by curve
};

/// Figures 4 (tasks of a set) and 5 (SMs).
/// @param progress gets the number of sets done and of all, from any thread, one call at a time
std::vector<Figure>
figures(std::uint64_t sets_a_point, std::uint64_t seed, unsigned threads,
        const std::function<void(std::uint64_t done, std::uint64_t all)> &progress);

} // namespace stgm
