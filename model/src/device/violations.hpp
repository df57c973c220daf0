// SPDX-License-Identifier: MIT OR GPL-2.0
// Accesses that the hardware does not have, kept so that tests can report them.
#pragma once

#include "device/access.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace nvmodel {

enum class Violation : std::uint8_t {
    unmodelled, // nothing is there, or the board's model lacks it
    write_only,
    read_only,
    size,        // the hardware lacks this width or alignment
    memory,      // an aperture leads to no memory
    side_effect, // a read that changes the GPU's state
    asleep,      // any access while the GPU has no power
};

std::string_view name_of(Violation why);

class Violations {
  public:
    struct Record {
        Access access;
        Violation why;
        std::uint64_t count = 1;
    };

    /// The most kinds that are recorded; later ones are only counted in overflow().
    static constexpr std::size_t max_records = 1024;

    void note(const Access &access, Violation why);
    void reset();

    /// The records, in the order of first occurrence.
    [[nodiscard]] const std::vector<Record> &records() const { return records_; }
    [[nodiscard]] std::uint64_t overflow() const { return overflow_; }

  private:
    std::vector<Record> records_;
    std::uint64_t overflow_ = 0;
};

} // namespace nvmodel
