// SPDX-License-Identifier: MIT OR GPL-2.0
// Bit fields of registers and of words in GPU memory.
#pragma once

#include <cstdint>

namespace nvmodel {

/// An inclusive bit range HI:LO of a 32-bit word, as NVIDIA's manuals write it.
struct Field {
    unsigned hi;
    unsigned lo;

    /// Largest value that fits.
    [[nodiscard]] constexpr std::uint32_t max() const {
        const unsigned width = hi - lo + 1;
        return width >= 32 ? 0xffffffffU : (1U << width) - 1;
    }
    /// Ones in place.
    [[nodiscard]] constexpr std::uint32_t mask() const { return max() << lo; }
    /// Takes the field's value out of a word.
    [[nodiscard]] constexpr std::uint32_t get(std::uint32_t word) const {
        return (word >> lo) & max();
    }
    /// Moves a value into place; bits that do not fit are dropped.
    [[nodiscard]] constexpr std::uint32_t put(std::uint32_t value) const {
        return (value & max()) << lo;
    }
    /// True if any bit of the field is set.
    [[nodiscard]] constexpr bool test(std::uint32_t word) const { return (word & mask()) != 0; }
};

/// A single bit.
constexpr Field bit(unsigned n) {
    return {n, n};
}

/// An inclusive bit range HI:LO of a 64-bit word (page-table entries).
struct Field64 {
    unsigned hi;
    unsigned lo;

    [[nodiscard]] constexpr std::uint64_t max() const {
        const unsigned width = hi - lo + 1;
        return width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
    }
    [[nodiscard]] constexpr std::uint64_t mask() const { return max() << lo; }
    [[nodiscard]] constexpr std::uint64_t get(std::uint64_t word) const {
        return (word >> lo) & max();
    }
    [[nodiscard]] constexpr std::uint64_t put(std::uint64_t value) const {
        return (value & max()) << lo;
    }
    [[nodiscard]] constexpr bool test(std::uint64_t word) const { return (word & mask()) != 0; }
};

constexpr Field64 bit64(unsigned n) {
    return {n, n};
}

constexpr std::uint32_t low32(std::uint64_t v) {
    return static_cast<std::uint32_t>(v & 0xffffffffU);
}

constexpr std::uint32_t high32(std::uint64_t v) {
    return static_cast<std::uint32_t>(v >> 32);
}

constexpr std::uint64_t join(std::uint32_t high, std::uint32_t low) {
    return (std::uint64_t{high} << 32) | low;
}

constexpr std::uint64_t align_up(std::uint64_t v, std::uint64_t alignment) {
    return (v + alignment - 1) / alignment * alignment;
}

} // namespace nvmodel
