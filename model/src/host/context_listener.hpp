// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "memory/aperture.hpp"

namespace nvmodel {

/// Called when the graphics engine's context is switched; the context is named by the instance
/// block of a channel that has it.
class ContextListener {
  public:
    virtual ~ContextListener() = default;
    virtual void saved(PhysicalAddress instance) = 0;
    virtual void restored(PhysicalAddress instance) = 0;
};

} // namespace nvmodel
