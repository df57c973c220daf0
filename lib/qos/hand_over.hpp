// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The order of the requests that change windows.
///
/// After each request for a timeslice, Host begins at the head of the runlist again (measured on
/// H200s, docs/gangs.md). So where the TSG of the next holder is nearer to the head than that of the
/// former one, the next holder runs after the first half of a change, and elsewhere after the second
/// one. Requests are carried out one after the other on all GPUs. A gang has all of its GPUs for
/// longer if those that hand a GPU over follow each other.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "window_keeper.hpp"

namespace qos {

/// One half of a WindowOrder.
struct OrderPart {
    std::size_t order; ///< the number of the WindowOrder
    bool is_first;     ///< WindowOrder::first, or the end of windows; else WindowOrder::then
    bool operator==(const OrderPart &) const = default;
};

/// Finds out from the turns after each change which half hands a GPU over. If the turn begins close to
/// the second request, it shows nothing, and what is known stays.
class HandOver {
  public:
    /// Returns the parts of orders in which there is something to do, in the order in which they are
    /// to be carried out: on each GPU the first half comes first. Those that hand a GPU over are in
    /// the order of GPUs.
    std::vector<OrderPart> parts(std::span<const WindowOrder> orders) const;

    /// Notes when the request for a half of an order began and ended, by the clock of turns.
    void note(const WindowOrder &order, bool is_first, Ns begin, Ns end);
    /// Takes the turns since the last change.
    void take(std::span<const WindowTurns> turns);

  private:
    /// The last change on a GPU, while the turns since then are awaited.
    struct Change {
        std::string former; ///< the holder before it
        Ns first_began;
        std::optional<std::pair<Ns, Ns>> then = {}; ///< begin and end of the second request
    };
    /// Changes from one holder to another, and the half that hands the GPU over in them.
    struct Pair {
        bool is_early = false; ///< the first half hands the GPU over
        int others = 0;        ///< changes in a row that showed the other half
    };
    struct OfGpu {
        std::string holder = {}; ///< since the last change; empty: none, or several
        std::optional<Change> change = {};
        std::map<std::pair<std::string, std::string>, Pair> pairs =
            {}; ///< by former and next holder
    };
    bool is_early(const WindowOrder &order) const;
    static void find_out(OfGpu &gpu, std::span<const WindowTurn> turns);

    std::map<std::uint32_t, OfGpu> gpus_;
};

} // namespace qos
