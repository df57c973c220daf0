// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Which goals another tenant can break, before anything is changed.
///
/// conflicts() finds the goals that cannot be kept together. Of the others, most are kept whatever
/// the other tenants do: a share has its turns, a cap its pauses, turns of a fixed length are set.
/// Three are not:
///
/// - Promised parts beside a tenant that is served first. Nothing limits that one but its cap. If
///   it may use so much that the parts do not fit into the rest, they depend on what it leaves.
/// - A tenant that is served first beside another one: each waits for the other's turns.
/// - A tenant that is served first beside turns of a fixed length, or whose requests are to end
///   within a time that one turn of a neighbour takes: nobody interrupts that turn for it.
///
/// As with conflicts(), the number of TSGs is taken as it is, and it is not considered whether work
/// can be interrupted. Tenants without tasks count with one TSG, since they may come at any time.
#pragma once

#include "admission.hpp"

namespace qos {

/// A goal that is kept only as far as another tenant leaves it.
struct Dependence {
    enum class Why {
        time,  ///< the other tenant is served first, and may use what is promised
        turns, ///< requests wait for turns of the other tenant, up to Dependence::turn each
    } why;
    std::size_t tenant; ///< whose goal it is
    std::size_t on;     ///< the tenant that can break it
    /// With Why::time: what all tenants that are served first may have together, so that the
    /// promised parts fit beside them. 0: they fit beside nothing.
    Part room = 0;
    Ns turn = 0; ///< with Why::turns
    bool operator==(const Dependence &) const = default;
};

/// Returns the goals that other tenants can break, by tenant and then by the other one.
std::vector<Dependence> dependences(std::span<const Entrant> entrants, const Settings &settings);

} // namespace qos
