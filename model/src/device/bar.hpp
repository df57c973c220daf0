// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include <cstdint>

namespace nvmodel {

/// NVIDIA's numbers. BAR2 is PCI resource 3: resource 2 would be BAR1's upper half.
enum class Bar : std::uint8_t { registers = 0, framebuffer = 1, instance = 2 };
inline constexpr unsigned bar_count = 3;

/// The PCI resource (BAR register) that holds a BAR.
constexpr unsigned pci_resource(Bar bar) {
    return bar == Bar::instance ? 3 : static_cast<unsigned>(bar);
}

} // namespace nvmodel
