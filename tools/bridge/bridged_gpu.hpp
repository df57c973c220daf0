// SPDX-License-Identifier: MIT OR GPL-2.0
// A PCI function with the BAR0 of a real GPU, to be read. There is no other BAR: memory is behind
// the PRAMIN window. The register of that window is the bridge's own, and the only writable one.
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

/// Returns the number in hexadecimal with 0x, as the model's requests have it.
[[nodiscard]] std::string hex(std::uint64_t value);

class BridgedGpu final : public nvmodel::PciFunction {
  public:
    /// Throws nvmodel::ConfigError if no such chip is known.
    explicit BridgedGpu(Source source);

    void attach(nvmodel::GuestMemory *) override {}
    std::uint64_t bar_read(nvmodel::Bar bar, std::uint64_t offset, unsigned size) override;
    void bar_write(nvmodel::Bar bar, std::uint64_t offset, std::uint64_t value,
                   unsigned size) override;
    void reset() override;

    const std::string &name() const { return source_.name; }

    /// What was read of the GPU.
    struct Counts {
        std::uint64_t registers = 0, memory_words = 0;
    };
    const Counts &counts() const { return counts_; }

    /// By offset or address, how often.
    struct Refusals {
        std::map<std::uint64_t, std::uint64_t> writes, registers, memory;
    };
    /// Writes that were not done, and registers and words of memory that are not there: in a
    /// capture they were not read.
    const Refusals &refusals() const { return refusals_; }
    void forget_refusals() { refusals_ = {}; }
    /// What was not answered at all, and why.
    const std::optional<Error> &trouble() const { return trouble_; }

    /// All of that since the bridge began, in a sentence.
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
    Refusals all_; // also those that were forgotten
    std::optional<Error> trouble_;
};

} // namespace nvdebug::bridge
