// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Units of the resource nvdebug.io/gpu-percent, which kubelet calls devices.
///
/// A unit is one percent of a GPU's time. Its name is the GPU's UUID and a number, `GPU-57a2…-07`,
/// so that it is the same after a restart. The units of a container are of one GPU, because its
/// goal is a share of one GPU.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nvdebug/expected.hpp"

namespace nvdebug::kubernetes {

/// nvqos can promise 98.6 to 99.3 % of a GPU to two to four tenants, and each tenant more takes
/// 0.34 %. With this number, 14 containers of one task each fit.
inline constexpr unsigned usual_units = 95;
/// The names of units have two digits.
inline constexpr unsigned most_units = 99;

struct Unit {
    std::string gpu;     ///< UUID
    unsigned number = 0; ///< from 0

    [[nodiscard]] std::string name() const;
};

/// Returns the unit of this name(); empty: it is none.
[[nodiscard]] std::optional<Unit> parse_unit(std::string_view name);

/// The units of one container.
struct Portion {
    std::string gpu; ///< UUID
    unsigned percent = 0;
};

/// A result, or a sentence for the events of the pod.
template <typename T>
using OrSentence = tl::expected<T, std::string>;

/// Returns the part of a GPU that units are. Fails if they are of several GPUs, more than
/// @p units_of_gpu, none, or no units.
[[nodiscard]] OrSentence<Portion> portion_of(const std::vector<std::string> &names,
                                             unsigned units_of_gpu);

/// The units of a container that kubelet asks about.
struct Wanted {
    std::vector<std::string> available; ///< free and healthy
    std::vector<std::string> included;  ///< units that the container has already, as after its
                                        ///< init containers; kubelet lists them as available, too
    std::size_t count = 0;
};

/// Returns the names of units of one GPU, the lowest numbers first. Of the GPUs that have enough
/// units, it is the one with the fewest available ones, so that large portions stay possible
/// elsewhere. Fails if no GPU has enough.
[[nodiscard]] OrSentence<std::vector<std::string>> preferred_units(const Wanted &wanted,
                                                                   unsigned units_of_gpu);

} // namespace nvdebug::kubernetes
