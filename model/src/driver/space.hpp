// SPDX-License-Identifier: MIT OR GPL-2.0
// A task's address space: the mappings of its program, and those that the driver needs in it.
#pragma once

#include "board/generation.hpp"
#include "driver/driver_memory.hpp"
#include "mmu/address_space.hpp"
#include "workload/workload.hpp"

#include <cstdint>
#include <span>

namespace nvmodel {

class Space {
  public:
    /// Makes the mappings that the workload wants, or some of every page size. Throws ConfigError
    /// if two of them overlap or there is no memory for the tables.
    Space(DriverMemory &memory, const mmu::Format &format, const AddressSpaceSpec &spec);

    [[nodiscard]] const AddressSpaceSpec &spec() const { return spec_; }
    [[nodiscard]] const mmu::AddressSpace &tables() const { return tables_; }

    /// Maps memory in one piece by small pages.
    void map(std::uint64_t va, PhysicalAddress at, std::uint64_t size);
    /// Maps memory that is never read.
    void map_data(std::uint64_t va, std::uint64_t size);

    /// Returns a range for the driver's own use that is free in all spaces.
    static std::uint64_t reserve(std::span<Space *const> spaces, std::uint64_t size);
    /// Returns a free range for an engine's context, whose pointer has so many bits.
    static std::uint64_t reserve_context(std::span<Space *const> spaces, std::uint64_t size,
                                         unsigned pointer_bits);

  private:
    static std::uint64_t reserve_from(std::span<Space *const> spaces, std::uint64_t va,
                                      std::uint64_t size);
    void map_wanted(const MappingSpec &mapping);
    void map_some_of_each();
    void map_data_page(std::uint64_t va, std::uint64_t page_size, mmu::PageAperture aperture);

    DriverMemory &memory_;
    const AddressSpaceSpec &spec_;
    mmu::AddressSpace tables_;
    std::uint64_t next_;
};

} // namespace nvmodel
