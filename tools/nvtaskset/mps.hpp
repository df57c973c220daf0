// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file NVIDIA's MPS, which lets several processes' kernels run at the same time.
#pragma once

#include <cstdint>
#include <string>

#include "lib/partition/outcome.hpp"

namespace nvtaskset {

/// An MPS server that nvtaskset has not started.
struct OtherMps {
    bool named = false; ///< the user has named its folder (CUDA_MPS_PIPE_DIRECTORY)
    bool answers = false;
    std::string folder;
};

/// That which the user has named, else that at NVIDIA's own place. Asks it; takes some seconds at
/// most.
OtherMps other_mps();

/// What CUDA in the command takes as many channels with as without MPS: unless the user has set it.
void set_connections();

/// Sees to it that nvtaskset's server of this number, from 1, runs, and that the command becomes
/// its client. Fails, within a minute, if it cannot be started.
[[nodiscard]] Outcome<void> join_mps(std::uint32_t server);

/// Ends all of nvtaskset's. Their clients' work ends with them. False: there is none.
[[nodiscard]] Outcome<bool> quit_mps();

} // namespace nvtaskset
