// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "base/time.hpp"

namespace nvmodel {

struct Engine;

/// How long engines take to change over from one context to the next.
class SwitchTime {
  public:
    virtual ~SwitchTime() = default;

    /// Not known yet: Host::end_switch() will end it.
    static constexpr Ns open = never - 1;

    /// Called when a change begins; the engine's context has what it is from and to.
    [[nodiscard]] virtual Ns of(const Engine &engine) = 0;
};

} // namespace nvmodel
