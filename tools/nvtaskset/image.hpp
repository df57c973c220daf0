// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Whether CUDA can load nvtaskset's library in a container's image.
#pragma once

#include "lib/partition/outcome.hpp"

namespace nvtaskset {

/// Fails if the C library below the folder @p root is not GNU's 2.28 or newer, or there is none.
/// Nothing outside of the folder is opened, whatever links are in it.
[[nodiscard]] Outcome<void> check_image(int root);

/// A createContainer hook of OCI runtimes: reads the container's state on stdin and checks its
/// image. Any status but done has the runtime start nothing, and show what was printed.
[[nodiscard]] Exit check_image_of_state();

} // namespace nvtaskset
