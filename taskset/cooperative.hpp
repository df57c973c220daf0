// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Launches whose blocks all run at the same time: CUDA counts with all SMs of the GPU. */
#ifndef NVTASKSET_COOPERATIVE_HPP
#define NVTASKSET_COOPERATIVE_HPP

#include "cuda.hpp"

namespace nvtaskset {

/** Do all blocks fit on @p sms at the same time? False also if CUDA does not say. */
bool fits(const cuda::Library &cuda, cuda::Handle function, const unsigned (&grid)[3],
          const unsigned (&block)[3], unsigned shared_bytes, std::uint32_t sms);

} // namespace nvtaskset

#endif
