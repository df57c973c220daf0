// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Pseudo-random numbers, which are the same on every machine for the same seed.
#pragma once

#include <cstddef>

#include "time.hpp"

namespace stgm {

/// The generator splitmix64 by Vigna.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        return z ^ z >> 31;
    }
    /// Returns a number from @p least to @p most, both included.
    Time between(Time least, Time most) {
        const auto span = static_cast<std::uint64_t>(most - least) + 1;
        return least + static_cast<Time>(next() % span);
    }
    std::size_t below(std::size_t count) { return next() % count; }
    /// Returns true in @p percent of 100 cases.
    bool chance(unsigned percent) { return next() % 100 < percent; }
    /// Returns a number from 0 to 1, without 1.
    double part() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  private:
    std::uint64_t state_;
};

} // namespace stgm
