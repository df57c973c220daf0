// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Servers of NVIDIA's MPS, which lets kernels of several processes run at the same time.
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

/// Removes the variables that join_mps() has set for the task in which this program was started, so
/// that nvtaskset's own server does not count as one that the user has named.
void leave_mps();

/// Returns the server that the user has named, or else the server at NVIDIA's default place. It
/// asks the server, which takes at most some seconds.
OtherMps other_mps();

/// Sets the variable with which CUDA has as many channels under MPS as without, unless the user has
/// set it.
void set_connections();

/// Starts nvtaskset's server of this number, from 1, if it does not run, and makes the command its
/// client. Fails within a minute if the server cannot be started.
[[nodiscard]] Outcome<void> join_mps(std::uint32_t server);

/// Ends all of nvtaskset's servers, and with them the work of their clients. Returns false if there
/// is no server.
[[nodiscard]] Outcome<bool> quit_mps();

} // namespace nvtaskset
