// SPDX-License-Identifier: MIT OR GPL-2.0
#include "device/pci_function.hpp"

#include "device/access.hpp"

namespace nvmodel {

std::uint64_t PciFunction::memory_read(std::uint64_t address, unsigned size) {
    const auto hit = config_.decode(address, size);
    return hit ? bar_read(hit->bar, hit->offset, size) : ones(size);
}

void PciFunction::memory_write(std::uint64_t address, std::uint64_t value, unsigned size) {
    if (const auto hit = config_.decode(address, size))
        bar_write(hit->bar, hit->offset, value, size);
}

} // namespace nvmodel
