// SPDX-License-Identifier: MIT OR GPL-2.0
// System memory as the device reaches it (DMA).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace nvmodel {

/// System memory. The program that attaches the device implements it. Addresses are guest-physical;
/// there is no IOMMU.
class GuestMemory {
  public:
    virtual ~GuestMemory() = default;

    /// Copies out of memory. Returns false (and copies nothing) if any byte of the range is not
    /// memory.
    [[nodiscard]] virtual bool read(std::uint64_t address, std::span<std::byte> to) const = 0;

    /// Copies into memory. Returns false (and changes nothing) if any byte of the range is not
    /// memory.
    [[nodiscard]] virtual bool write(std::uint64_t address, std::span<const std::byte> from) = 0;
};

} // namespace nvmodel
