// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Which GPUs CUDA shows to a program: CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER.
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "lib/partition/gpus.hpp"

namespace nvtaskset {

/// The variables of a program; nullopt: not set. An empty CUDA_VISIBLE_DEVICES hides all GPUs.
struct Visibility {
    std::optional<std::string> devices, order;

    /// This process' own.
    static Visibility own();
    /// Those that a process was started with.
    static Visibility of(pid_t pid);
};

/// The numbers of the GPUs that CUDA shows, in no certain order; none: it shows none, or parts of
/// GPUs (MIG). UUIDs are looked up. What a number means is asked of CUDA, in a process of its own,
/// as CUDA counts the fastest GPU first by rules that NVIDIA does not publish, and only GPUs that
/// the process may open. Fails if CUDA is asked and cannot answer.
[[nodiscard]] Outcome<std::vector<std::size_t>> visible_gpus(Gpus &gpus,
                                                             const Visibility &visibility);

} // namespace nvtaskset
