// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file When each part of a simulation has something to do.
#pragma once

#include "host.hpp"

namespace simulation {

/// A binary heap of slots. Of slots with the same time the lower one is first.
class Agenda {
  public:
    explicit Agenda(std::size_t slots) : times_(slots, never), heap_(slots), places_(slots) {
        for (std::size_t n = 0; n < slots; n++)
            heap_[n] = places_[n] = n;
    }

    std::size_t first() const { return heap_.front(); }
    Ns first_time() const { return times_[first()]; }

    void set(std::size_t slot, Ns time) {
        if (times_[slot] == time)
            return;
        times_[slot] = time;
        std::size_t at = places_[slot];
        while (at > 0 && is_before(slot, heap_[(at - 1) / 2])) {
            put(heap_[(at - 1) / 2], at);
            at = (at - 1) / 2;
        }
        for (std::size_t next;
             (next = earlier_child(at)) < heap_.size() && is_before(heap_[next], slot); at = next)
            put(heap_[next], at);
        put(slot, at);
    }

  private:
    bool is_before(std::size_t a, std::size_t b) const {
        return times_[a] < times_[b] || (times_[a] == times_[b] && a < b);
    }
    std::size_t earlier_child(std::size_t at) const {
        const std::size_t left = 2 * at + 1, right = left + 1;
        return right < heap_.size() && is_before(heap_[right], heap_[left]) ? right : left;
    }
    void put(std::size_t slot, std::size_t at) {
        heap_[at] = slot;
        places_[slot] = at;
    }

    std::vector<Ns> times_;           ///< by slot
    std::vector<std::size_t> heap_;   ///< slots
    std::vector<std::size_t> places_; ///< by slot: where it is in the heap
};

} // namespace simulation
