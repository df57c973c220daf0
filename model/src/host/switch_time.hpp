// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "base/time.hpp"

namespace nvmodel {

struct Engine;

/// The time that engines take to change over from one context to the next.
class SwitchTime {
  public:
    virtual ~SwitchTime() = default;

    /// The time is not known yet: Host::end_switch() will end the change.
    static constexpr Ns open = never - 1;

    /// Called when a change begins; the engine's context names the old and the new context.
    [[nodiscard]] virtual Ns of(const Engine &engine) = 0;
};

} // namespace nvmodel
