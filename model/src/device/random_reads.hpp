// SPDX-License-Identifier: MIT OR GPL-2.0
// Reads that go wrong at random, the same way each time for the same seed and accesses.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string_view>

namespace nvmodel {

class RandomReads {
  public:
    enum class Kind : std::uint8_t { any, ones, pri_error, flip };

    /// The kind of fault with this name, or nothing; "" is any kind.
    static std::optional<Kind> kind_of(std::string_view name);

    /// `rate` is the share of reads that go wrong, 0 to 1.
    RandomReads(std::uint64_t seed, double rate, Kind kind);

    /// Returns the value to read instead of `value`, which has so many bits; nothing if this read
    /// goes well.
    std::optional<std::uint64_t> instead_of(std::uint64_t value, unsigned bits);

  private:
    std::mt19937_64 random_;
    std::uint64_t limit_; // a read with a lower random number goes wrong
    bool always_;
    Kind kind_;
};

} // namespace nvmodel
