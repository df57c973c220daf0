// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Descriptors that a process has inherited. */
#ifndef NVTASKSET_DESCRIPTORS_HPP
#define NVTASKSET_DESCRIPTORS_HPP

namespace nvtaskset {

/** Closes all descriptors but the standard streams and @p kept. */
void close_all_but(int kept);

} // namespace nvtaskset

#endif
