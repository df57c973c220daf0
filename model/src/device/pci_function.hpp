// SPDX-License-Identifier: MIT OR GPL-2.0
// A PCI function as transports see it: configuration space and BARs. Single-threaded.
#pragma once

#include "device/bar.hpp"
#include "device/pci_config.hpp"
#include "memory/guest_memory.hpp"

#include <cstdint>

namespace nvmodel {

class PciFunction {
  public:
    explicit PciFunction(const PciConfig &config) : config_(config) {}
    virtual ~PciFunction() = default;
    PciFunction(const PciFunction &) = delete;
    PciFunction &operator=(const PciFunction &) = delete;

    /// Attaches system memory (not owned; nullptr detaches it).
    virtual void attach(GuestMemory *guest) = 0;

    [[nodiscard]] std::uint32_t config_read(std::uint32_t offset, unsigned size) const {
        return config_.read(offset, size);
    }
    void config_write(std::uint32_t offset, std::uint32_t value, unsigned size) {
        config_.write(offset, value, size);
    }

    [[nodiscard]] const PciConfig &config() const { return config_; }

    /// Accesses 1, 2, 4 or 8 bytes at an offset within a BAR.
    virtual std::uint64_t bar_read(Bar bar, std::uint64_t offset, unsigned size) = 0;
    virtual void bar_write(Bar bar, std::uint64_t offset, std::uint64_t value, unsigned size) = 0;

    /// Accesses an absolute bus address, as BARs are programmed. An address that no BAR decodes
    /// reads as ones and takes no time.
    std::uint64_t memory_read(std::uint64_t address, unsigned size);
    void memory_write(std::uint64_t address, std::uint64_t value, unsigned size);

    /// Resets the device, with its PCI configuration.
    virtual void reset() = 0;

  protected:
    PciConfig config_;
};

} // namespace nvmodel
