// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A check whether CUDA can load nvtaskset's library in a container's image.
#pragma once

#include "lib/partition/outcome.hpp"

namespace nvtaskset {

/// Fails if the folder @p root has no C library, or another one than GNU's from 2.28 on. It opens
/// nothing outside of the folder, whatever links are in it.
[[nodiscard]] Outcome<void> check_image(int root);

/// Is a createContainer hook of OCI runtimes. It reads the container's state on stdin and checks
/// the image. If it returns another status than `done`, the runtime does not start the container,
/// and shows what was printed.
[[nodiscard]] Exit check_image_of_state();

} // namespace nvtaskset
