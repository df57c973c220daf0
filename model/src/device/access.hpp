// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "device/bar.hpp"

#include <cstdint>

namespace nvmodel {

/// An access to a BAR.
struct Access {
    Bar bar = Bar::registers;
    std::uint64_t offset = 0;
    unsigned size = 4; // 1, 2, 4 or 8
    bool write = false;
};

/// The value of a read of this size where nothing answers.
constexpr std::uint64_t ones(unsigned size) {
    return size >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * size)) - 1;
}

} // namespace nvmodel
