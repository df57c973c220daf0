// SPDX-License-Identifier: MIT OR GPL-2.0
// Shows the BAR0 of a real GPU as a PCI function, for reading. It has no other BAR, because memory
// can be read through the PRAMIN window. The register that moves the window is the bridge's own,
// and the only one that can be written.
#pragma once

#include "source.hpp"

#include "blocks/bus.hpp"
#include "device/pci_function.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace nvdebug::bridge {

/// Returns the number in hexadecimal with 0x, as the model's requests show numbers.
[[nodiscard]] std::string hex(std::uint64_t value);

class BridgedGpu final : public nvmodel::PciFunction {
  public:
    /// Throws nvmodel::ConfigError if the chip is not known.
    explicit BridgedGpu(Source source);

    void attach(nvmodel::GuestMemory *) override {}
    std::uint64_t bar_read(nvmodel::Bar bar, std::uint64_t offset, unsigned size) override;
    void bar_write(nvmodel::Bar bar, std::uint64_t offset, std::uint64_t value,
                   unsigned size) override;
    void reset() override;

    const std::string &name() const { return source_.name; }

    /// The numbers of registers and words of memory that were read.
    struct Counts {
        std::uint64_t registers = 0, memory_words = 0;
    };
    const Counts &counts() const { return counts_; }

    /// How often each access was refused, by offset or address.
    struct Refusals {
        std::map<std::uint64_t, std::uint64_t> writes, registers, memory;
    };
    /// Returns the refused writes, and the registers and words of memory that do not exist. In a
    /// capture these are the words that were not read.
    const Refusals &refusals() const { return refusals_; }
    void forget_refusals() { refusals_ = {}; }
    /// Returns the first error because of which an access got no answer.
    const std::optional<Error> &trouble() const { return trouble_; }

    /// Returns a sentence with all counts since the bridge began.
    [[nodiscard]] std::string report() const;

    /// See CaptureWords::show().
    [[nodiscard]] Result<void> show(const std::string &file);

  private:
    BridgedGpu(Source source, const nvmodel::Generation &generation);

    std::uint32_t word(std::uint32_t offset);
    std::uint32_t register_word(std::uint32_t offset);
    std::uint32_t memory_word(std::uint32_t offset);
    std::uint32_t failed(const Error &why);

    Source source_;
    const nvmodel::Generation &generation_;
    nvmodel::BusState bus_;
    std::unique_ptr<nvmodel::RegisterBlock> window_;
    Counts counts_;
    Refusals refusals_;
    Refusals all_; // includes refusals that were forgotten
    std::optional<Error> trouble_;
};

} // namespace nvdebug::bridge
