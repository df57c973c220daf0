// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file NVIDIA's MPS, which lets several processes' kernels run at the same time. */
#ifndef NVTASKSET_MPS_HPP
#define NVTASKSET_MPS_HPP

#include <cstdint>

#include "gpu_map.hpp"

namespace nvtaskset {

/**
 * Tasks that one server takes. The paper (ECRTS 2025) found 15 of 8 channels: a TSG has 128, and the
 * server 8 of them.
 */
constexpr std::uint32_t clients_max = 15;

/** The user has named an MPS server (CUDA_MPS_PIPE_DIRECTORY), or NVIDIA's own place has one. */
bool has_other_mps();

/**
 * Sees to it that CUDA in the command has as many channels as without MPS, and finds an MPS server:
 * the other one if there is, else nvtaskset's of this number, from 1.
 */
Outcome<void> join_mps(std::uint32_t server);

/** Ends all of nvtaskset's. Their clients' work ends with them. False: there is none. */
Outcome<bool> quit_mps();

} // namespace nvtaskset

#endif
