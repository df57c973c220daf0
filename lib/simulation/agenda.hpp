// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file When each part of a simulation has something to do.
#pragma once

#include <bit>
#include <utility>

#include "host.hpp"

namespace simulation {

/// A tournament of slots: each node of a binary tree has the earlier of its two children. Of slots
/// with the same time the lower one is first.
class Agenda {
  public:
    /// @param slots at least one
    explicit Agenda(std::size_t slots)
        : leaves_(std::bit_ceil(slots)), nodes_(2 * leaves_, {never, 0}) {
        for (std::size_t n = 0; n < leaves_; n++)
            nodes_[leaves_ + n].slot = n;
        for (std::size_t n = leaves_; n-- > 1;)
            nodes_[n] = earlier_child(n);
    }

    std::size_t first() const { return nodes_[1].slot; }
    Ns first_time() const { return nodes_[1].time; }

    void set(std::size_t slot, Ns time) {
        std::size_t at = leaves_ + slot;
        if (std::exchange(nodes_[at].time, time) == time)
            return;
        while (at > 1) {
            at /= 2;
            const Node &earlier = earlier_child(at);
            if (nodes_[at] == earlier)
                return; // those above it have been of this one, too
            nodes_[at] = earlier;
        }
    }

  private:
    struct Node {
        Ns time;
        std::size_t slot;
        bool operator==(const Node &) const = default;
    };

    const Node &earlier_child(std::size_t node) const {
        const Node &left = nodes_[2 * node], &right = nodes_[2 * node + 1];
        return right.time < left.time ? right : left;
    }

    std::size_t leaves_;
    std::vector<Node> nodes_; ///< from 1 on: the children of N are 2 N and 2 N + 1
};

} // namespace simulation
