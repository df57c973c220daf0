// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file What is known of a GPU's TPCs, kept in a file from the first probe on. */
#ifndef NVTASKSET_MAP_FILE_HPP
#define NVTASKSET_MAP_FILE_HPP

#include <string>

#include "lib/partition/gpu_map.hpp"
#include "lib/partition/gpus.hpp"

namespace nvtaskset {

/** The injected library: beside the tool, or where it is installed. */
std::string injection_path();

/**
 * Its TPCs: from the file that an earlier probe has left, or by a probe in a process of its own.
 * @param anew probe in any case
 */
Outcome<GpuMap> map_of(const Gpu &gpu, bool anew);

} // namespace nvtaskset

#endif
