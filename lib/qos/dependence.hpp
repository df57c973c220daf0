// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Which goals another tenant limits or can break, before anything is changed.
///
/// conflicts() finds the goals that cannot be kept together. Of the others, most are kept whatever
/// the other tenants do: a share or a speed has its turns, a cap its pauses, turns of a fixed
/// length are set. A tenant that is served first depends on others in three ways:
///
/// - Promised parts are kept in every second, in its pauses or by turns. So it is served first in
///   what they leave. If its cap is not below that, the promises limit it.
/// - Of two tenants that are served first, each waits for the other's turns.
/// - It waits for turns of a fixed length, and its requests may have to end within a time that one
///   turn of a neighbour takes: that turn is not interrupted for it.
///
/// As with conflicts(), the number of TSGs is taken as it is, and it is not considered whether work
/// can be interrupted. Tenants without tasks count with one TSG, since they may come at any time.
#pragma once

#include "admission.hpp"

namespace qos {

/// A goal that is kept only as far as another tenant leaves it.
struct Dependence {
    enum class Why {
        time,  ///< the other tenant is promised a part of the time
        turns, ///< requests wait for turns of the other tenant, up to Dependence::turn each
    } why;
    std::size_t tenant; ///< whose goal it is; it is served first
    std::size_t on;     ///< the tenant that limits it
    /// The part of the time in which all tenants that are served first are, with Why::time.
    Part room = 0;
    Ns turn = 0; ///< the longest turn of the other tenant while the first one always has work
    bool operator==(const Dependence &) const = default;
};

/// Returns the goals that other tenants limit or can break, by tenant and then by the other one.
std::vector<Dependence> dependences(std::span<const Entrant> entrants, const Settings &settings);

} // namespace qos
