// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Which TPCs a tenant and the others have at a moment: what a Splitter has found, but for
/// times in which the tenant has the GPU alone, and what it has launched then.
#pragma once

#include "pacer.hpp"
#include "splitter.hpp"

namespace qos {

/// Decides the TPCs for one tenant whose speed a Pacer keeps.
class Division {
  public:
    struct Seen {
        Launched tenant;
        std::uint64_t others_ended; ///< launches of the others; does not go back
        bool drained;               ///< no launch of a held task runs any more
        bool others_work;
    };

    /// @param tpcs of the GPU, at least 2
    Division(int tpcs, Part goal, Ns now) : tpcs_(tpcs), splitter_(tpcs, goal, now) {}

    /// Decides anew. The caller has made the pacer's step before.
    void step(Ns now, const Seen &seen, const Pacer &pacer);
    void others_changed() { splitter_.others_changed(); }

    /// TPCs of the tenant beside the others; 0: all have all.
    int split() const { return splitter_.own(); }
    /// Returns how many TPCs new launches of the tenant get; 0: all.
    int of_tenant() const { return has_gpu_alone_ ? 0 : split(); }
    int of_others() const { return split() ? tpcs_ - split() : 0; }
    /// Returns whether all launches of the tenant were made for all TPCs, so that they show its
    /// speed alone.
    bool is_whole() const { return is_whole_; }
    /// Returns whether the others are held, by the pacer or because launches of the tenant for all
    /// TPCs are in flight.
    bool holds_others() const { return holds_others_; }

  private:
    const int tpcs_;
    Splitter splitter_;
    bool has_gpu_alone_ = false, is_whole_ = true, holds_others_ = false;
    Ns others_held_at_ = 0;    ///< the time since which the pacer has held the others
    std::uint64_t wide_ = 0;   ///< the tenant's launches when it last ceased to have all TPCs
    Ns narrowed_at_ = 0;       ///< the time of that change
    std::uint64_t narrow_ = 0; ///< the tenant's launches when it last ceased to have some TPCs
    Ns widened_at_ = 0;        ///< the time of that change
};

} // namespace qos
