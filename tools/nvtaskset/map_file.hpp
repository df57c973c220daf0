// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The TPCs of a GPU, which a file keeps from the first probe on.
#pragma once

#include <string>

#include "lib/partition/gpu_map.hpp"
#include "lib/partition/gpus.hpp"

namespace nvtaskset {

/// Returns the path of the injected library, beside the program or in its place of installation.
[[nodiscard]] std::string injection_path();

/// Returns the TPCs of a GPU, from the file of an earlier probe, or by a probe in a child process.
/// @param anew probe even if there is a file
[[nodiscard]] Outcome<GpuMap> map_of(const Gpu &gpu, bool anew);

} // namespace nvtaskset
