// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What is known of a GPU's TPCs, kept in a file from the first probe on.
#pragma once

#include <string>

#include "lib/partition/gpu_map.hpp"
#include "lib/partition/gpus.hpp"

namespace nvtaskset {

/// The injected library: beside the tool, or where it is installed.
[[nodiscard]] std::string injection_path();

/// Its TPCs: from the file that an earlier probe has left, or by a probe in a process of its own.
/// @param anew probe in any case
[[nodiscard]] Outcome<GpuMap> map_of(const Gpu &gpu, bool anew);

} // namespace nvtaskset
