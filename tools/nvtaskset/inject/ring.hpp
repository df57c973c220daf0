// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A queue of a fixed size that many threads fill without a lock, and one thread empties.
///
/// Each place has a turn: the number of the record that may be put there next or, one more, of the
/// record that is there. So a thread that was stopped inside put() delays the reader, and never
/// another thread's put().
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nvtaskset {

/// @tparam size a power of two
template <typename Record, std::size_t size>
class Ring {
    static_assert((size & (size - 1)) == 0);

  public:
    Ring() {
        for (std::size_t at = 0; at < size; at++)
            places_[at].turn.store(at, std::memory_order_relaxed);
    }

    /// Puts a record at the end. Returns false if the ring is full.
    bool put(const Record &record) {
        std::uint64_t number = end_.load(std::memory_order_relaxed);
        for (;;) {
            Place &place = places_[number % size];
            const std::uint64_t turn = place.turn.load(std::memory_order_acquire);
            if (turn < number)
                return false;
            if (turn > number) {
                number = end_.load(std::memory_order_relaxed);
            } else if (end_.compare_exchange_weak(number, number + 1, std::memory_order_relaxed)) {
                place.record = record;
                place.turn.store(number + 1, std::memory_order_release);
                return true;
            }
        }
    }

    /// Takes the oldest record. Returns false if there is none. One thread at a time may call it.
    bool take(Record &record) {
        Place &place = places_[begin_ % size];
        if (place.turn.load(std::memory_order_acquire) != begin_ + 1)
            return false;
        record = place.record;
        place.turn.store(begin_ + size, std::memory_order_release);
        begin_++;
        return true;
    }

  private:
    struct alignas(64) Place {
        std::atomic<std::uint64_t> turn;
        Record record;
    };

    alignas(64) std::atomic<std::uint64_t> end_{0}; ///< the number of the next record
    alignas(64) std::uint64_t begin_ = 0;           ///< the number of the oldest record
    std::array<Place, size> places_;
};

} // namespace nvtaskset
