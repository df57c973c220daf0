// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file On which GPUs the rules of `check` were measured: lab/evidence.csv, as it was when this
/// was built.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace nvdebugctl {

/// An experiment of the lab about a rule.
struct Measurement {
    std::string rule;       ///< `R4`
    std::string generation; ///< `Hopper`
    std::string machine;    ///< `h100-580.159.04`: GPU and driver
    std::string found;      ///< `holds`, `in part`, `does not hold`
};

/// @param csv lab/evidence.csv, with its heading
[[nodiscard]] std::vector<Measurement> parse_evidence(const std::string &csv);

/// What this tool was built with.
[[nodiscard]] const std::vector<Measurement> &evidence();

/// The measurements of a rule that are nearest to a GPU.
struct Measured {
    enum class Where { this_generation, other_generation, never } where;
    std::vector<Measurement> on; ///< those of its generation, or if there are none, of others
};

/// @param generation the GPU's; nullopt: not known, so that none is of its generation
Measured nearest(const std::vector<Measurement> &all, const std::string &rule,
                 const std::optional<std::string> &generation);

} // namespace nvdebugctl
