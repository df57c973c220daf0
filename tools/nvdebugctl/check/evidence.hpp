// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The GPUs on which the rules of `check` were measured. They are in lab/evidence.csv, and
/// the build copies this file into the tool.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace nvdebugctl {

/// The result of one of the lab's experiments about a rule.
struct Measurement {
    std::string rule;       ///< `R4`
    std::string generation; ///< `Hopper`
    std::string machine;    ///< `h100-580.159.04`: GPU and driver
    std::string found;      ///< `holds`, `in part`, `does not hold`
};

/// Parses the rows of lab/evidence.csv.
/// @param csv the file's text, with its heading
[[nodiscard]] std::vector<Measurement> parse_evidence(const std::string &csv);

/// Returns the rows of lab/evidence.csv as it was when the tool was built.
[[nodiscard]] const std::vector<Measurement> &evidence();

/// The measurements of a rule on the GPUs that are nearest to a given GPU.
struct Measured {
    enum class Where { this_generation, other_generation, never } where;
    /// Measurements on this generation; if there are none, on other generations.
    std::vector<Measurement> on;
};

/// Finds the measurements of a rule that are nearest to a GPU.
/// @param generation the GPU's generation; nullopt: unknown, so no measurement is of this
/// generation
Measured nearest(const std::vector<Measurement> &all, const std::string &rule,
                 const std::optional<std::string> &generation);

} // namespace nvdebugctl
