// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "base/time.hpp"

namespace nvmodel {

struct Engine;

/// How long engines take to change over from one context to the next.
class SwitchTime {
  public:
    virtual ~SwitchTime() = default;

    /// That is not known yet: Host::end_switch() will say when it is over.
    static constexpr Ns open = never - 1;

    /// Asked when a change begins; the engine's context says from what to what.
    [[nodiscard]] virtual Ns of(const Engine &engine) = 0;
};

} // namespace nvmodel
