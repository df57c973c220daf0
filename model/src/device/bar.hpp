// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace nvmodel {

/// NVIDIA's numbers. Which PCI resource each is depends on the generation, because on real boards
/// 64-bit BARs take two: BAR2 is 3 up to Ada, BAR1 and BAR2 are 2 and 4 on Hopper.
enum class Bar : std::uint8_t { registers = 0, framebuffer = 1, instance = 2 };
inline constexpr unsigned bar_count = 3;

/// "BAR0" and so on.
constexpr std::string_view name_of(Bar bar) {
    constexpr std::string_view names[bar_count] = {"BAR0", "BAR1", "BAR2"};
    return names[static_cast<unsigned>(bar)];
}

} // namespace nvmodel
