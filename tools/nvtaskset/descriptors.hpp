// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Descriptors that a process has inherited.
#pragma once

namespace nvtaskset {

/// Closes all descriptors but the standard streams and @p kept.
void close_all_but(int kept);

} // namespace nvtaskset
