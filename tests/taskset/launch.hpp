// SPDX-License-Identifier: MIT OR GPL-2.0
// Launches: the descriptors that the GPU gets, and the SMs on which it runs them.
#pragma once

#include <optional>

#include "driver.hpp"

namespace stand_in {

/// Checks a launch as the driver does, against the whole GPU and not the mask.
cuda::Result check(const Gpu &gpu, const Launch &launch);
/// Takes the dimensions of clusters, and whether the launch is cooperative, from an attribute.
void apply(Launch &launch, int attribute, const cuda::AttributeValue &value);
/// Fills `work` and returns success, or returns an error.
cuda::Result work_of(Work &work, CUctx &context, cuda::Function function, Launch launch,
                     void **params);
/// Builds a descriptor and lets the subscriber change it. The lock is open during the callback,
/// which may use the driver. A descriptor that is built again has its previous mask (measured,
/// H100).
Descriptor descriptor_for(const Work &work, Lock &lock,
                          const std::optional<Descriptor> &before = {});
void run(const Work &work, const Descriptor &descriptor, const char *how);

} // namespace stand_in
