// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "memory/guest_memory.hpp"
#include "transport/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvmodel {

/// Guest RAM, mapped from the descriptors that the VMM hands over.
class MappedMemory final : public GuestMemory {
  public:
    struct Region {
        std::uint64_t address = 0; // guest-physical
        std::uint64_t size = 0;
        std::uint64_t offset = 0; // in the file
        UniqueFd fd;              // none: the region exists, but is out of reach
        bool writable = true;
    };

    MappedMemory() = default;
    MappedMemory(const MappedMemory &) = delete;
    MappedMemory &operator=(const MappedMemory &) = delete;
    ~MappedMemory() override { clear(); }

    /// Replaces all regions. Throws ProtocolError if a region cannot be mapped; then nothing is
    /// mapped.
    void replace(const std::vector<Region> &regions);

    /// Maps one more region. Throws ProtocolError if it cannot be mapped.
    void add(const Region &region);

    /// Forgets the region that was added with exactly this place. Returns false if there is none.
    bool remove(std::uint64_t address, std::uint64_t size);

    [[nodiscard]] bool overlaps(std::uint64_t address, std::uint64_t size) const;
    [[nodiscard]] std::size_t regions() const { return mappings_.size(); }

    [[nodiscard]] bool read(std::uint64_t address, std::span<std::byte> to) const override;
    [[nodiscard]] bool write(std::uint64_t address, std::span<const std::byte> from) override;

  private:
    struct Mapping {
        std::uint64_t address;
        std::uint64_t size;
        // The region's bytes; the mapping begins on the page before. Null: out of reach.
        std::byte *bytes;
        void *base;
        std::size_t length;
        bool writable;
    };

    void clear();
    static void unmap(const Mapping &mapping);
    [[nodiscard]] const Mapping *find(std::uint64_t address, bool to_write) const;
    template <typename Copy>
    bool walk(std::uint64_t address, std::size_t length, bool to_write, Copy copy) const;

    std::vector<Mapping> mappings_;
};

} // namespace nvmodel
