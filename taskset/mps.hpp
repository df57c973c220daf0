// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file NVIDIA's MPS, which lets several processes' kernels run at the same time. */
#ifndef NVTASKSET_MPS_HPP
#define NVTASKSET_MPS_HPP

#include <string>

#include "gpu_map.hpp"

namespace nvtaskset {

/**
 * Sees to it that there is an MPS server and that CUDA in the command finds it, by the environment:
 * that which the user has (CUDA_MPS_PIPE_DIRECTORY, or NVIDIA's own place), or one of nvtaskset's.
 */
Outcome<void> join_mps();

/** Ends nvtaskset's own. Its clients' work ends with it. False: there is none. */
Outcome<bool> quit_mps();

} // namespace nvtaskset

#endif
