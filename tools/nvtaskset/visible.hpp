// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The GPUs that CUDA shows to a program, by CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER.
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "lib/partition/gpus.hpp"

namespace nvtaskset {

/// The variables of a program, nullopt if not set. An empty CUDA_VISIBLE_DEVICES hides all GPUs.
struct Visibility {
    std::optional<std::string> devices, order;

    /// Returns the variables of this process.
    static Visibility own();
    /// Returns the variables with which a process was started.
    static Visibility of(pid_t pid);
};

/// Returns the numbers of the GPUs that CUDA shows, in no particular order. There are none if CUDA
/// shows no GPU, or only parts of GPUs (MIG). UUIDs are looked up here. For numbers, a child
/// process asks CUDA, because CUDA counts the fastest GPU first, by rules that NVIDIA does not
/// publish, and counts only GPUs that the process may open. Fails if CUDA is asked and cannot
/// answer.
[[nodiscard]] Outcome<std::vector<std::size_t>> visible_gpus(Gpus &gpus,
                                                             const Visibility &visibility);

} // namespace nvtaskset
