// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace nvmodel {

/// BARs by NVIDIA's numbers. The generation decides which PCI resource a BAR is, because on real
/// boards 64-bit BARs take two resources: BAR2 is resource 3 up to Ada, BAR1 and BAR2 are 2 and 4
/// on Hopper.
enum class Bar : std::uint8_t { registers = 0, framebuffer = 1, instance = 2 };
inline constexpr unsigned bar_count = 3;

/// Returns "BAR0" and so on.
constexpr std::string_view name_of(Bar bar) {
    constexpr std::string_view names[bar_count] = {"BAR0", "BAR1", "BAR2"};
    return names[static_cast<unsigned>(bar)];
}

} // namespace nvmodel
