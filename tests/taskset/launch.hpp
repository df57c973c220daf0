// SPDX-License-Identifier: MIT OR GPL-2.0
// Launches: what the GPU is given, and what it does with it.
#pragma once

#include <optional>

#include "driver.hpp"

namespace stand_in {

/// As the driver does, which counts with the whole GPU.
cuda::Result check(const Gpu &gpu, const Launch &launch);
/// What of an attribute matters.
void apply(Launch &launch, int attribute, const cuda::AttributeValue &value);
/// Returns success and fills `work`, or why not.
cuda::Result work_of(Work &work, CUctx &context, cuda::Function function, Launch launch,
                     void **params);
/// What a subscriber makes of it. It may use the driver meanwhile.
/// One that is built again has the mask of the one before (measured, H100).
Descriptor descriptor_for(const Work &work, Lock &lock,
                          const std::optional<Descriptor> &before = {});
void run(const Work &work, const Descriptor &descriptor, const char *how);

} // namespace stand_in
