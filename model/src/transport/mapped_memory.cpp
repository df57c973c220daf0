// SPDX-License-Identifier: MIT OR GPL-2.0
#include "transport/mapped_memory.hpp"

#include "base/error.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string>

namespace nvmodel {

void MappedMemory::unmap(const Mapping &mapping) {
    if (mapping.base != nullptr)
        ::munmap(mapping.base, mapping.length);
}

void MappedMemory::clear() {
    std::ranges::for_each(mappings_, unmap);
    mappings_.clear();
}

void MappedMemory::replace(const std::vector<Region> &regions) {
    clear();
    try {
        for (const Region &region : regions)
            add(region);
    } catch (...) {
        clear();
        throw;
    }
}

/// Adds a region. A mapping that reaches beyond its file would kill the process on access, so sizes
/// are checked.
void MappedMemory::add(const Region &region) {
    if (region.size == 0)
        throw ProtocolError("guest memory: empty region");
    if (region.address > std::numeric_limits<std::uint64_t>::max() - region.size)
        throw ProtocolError("guest memory: region beyond the end of the address space");
    if (region.fd.get() < 0) {
        mappings_.push_back({region.address, region.size, nullptr, nullptr, 0, false});
        return;
    }
    struct stat file {};
    if (::fstat(region.fd.get(), &file) != 0)
        throw ProtocolError("guest memory: descriptor unusable: " +
                            std::string(std::strerror(errno)));
    const auto file_size = static_cast<std::uint64_t>(file.st_size);
    if (region.size > file_size || region.offset > file_size - region.size)
        throw ProtocolError("guest memory: region is not inside its file");
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const std::uint64_t before = region.offset % page;
    const std::size_t length = static_cast<std::size_t>(region.size + before);
    const int access = region.writable ? PROT_READ | PROT_WRITE : PROT_READ;
    void *const base = ::mmap(nullptr, length, access, MAP_SHARED, region.fd.get(),
                              static_cast<off_t>(region.offset - before));
    if (base == MAP_FAILED)
        throw ProtocolError("guest memory: mmap: " + std::string(std::strerror(errno)));
    mappings_.push_back({region.address, region.size, static_cast<std::byte *>(base) + before, base,
                         length, region.writable});
}

bool MappedMemory::remove(std::uint64_t address, std::uint64_t size) {
    const auto found = std::ranges::find_if(mappings_, [&](const Mapping &mapping) {
        return mapping.address == address && mapping.size == size;
    });
    if (found == mappings_.end())
        return false;
    unmap(*found);
    mappings_.erase(found);
    return true;
}

bool MappedMemory::overlaps(std::uint64_t address, std::uint64_t size) const {
    return std::ranges::any_of(mappings_, [&](const Mapping &mapping) {
        return address < mapping.address ? mapping.address - address < size
                                         : address - mapping.address < mapping.size;
    });
}

const MappedMemory::Mapping *MappedMemory::find(std::uint64_t address, bool to_write) const {
    const auto found = std::ranges::find_if(mappings_, [address](const Mapping &mapping) {
        return address >= mapping.address && address - mapping.address < mapping.size;
    });
    if (found == mappings_.end() || found->bytes == nullptr || (to_write && !found->writable))
        return nullptr;
    return &*found;
}

/// Calls copy(bytes, position, length) for each piece of a range. Returns false, without a call, if
/// any byte of the range is not mapped, or may not be written.
template <typename Copy>
bool MappedMemory::walk(std::uint64_t address, std::size_t length, bool to_write, Copy copy) const {
    for (const bool dry : {true, false}) {
        std::size_t done = 0;
        while (done < length) {
            const std::uint64_t at = address + done;
            const Mapping *const mapping = at >= address ? find(at, to_write) : nullptr;
            if (mapping == nullptr)
                return false;
            const std::uint64_t in = at - mapping->address;
            const std::size_t piece = static_cast<std::size_t>(
                std::min<std::uint64_t>(length - done, mapping->size - in));
            if (!dry)
                copy(mapping->bytes + in, done, piece);
            done += piece;
        }
    }
    return true;
}

bool MappedMemory::read(std::uint64_t address, std::span<std::byte> to) const {
    return walk(address, to.size(), false,
                [to](const std::byte *bytes, std::size_t at, std::size_t n) {
                    std::memcpy(to.data() + at, bytes, n);
                });
}

bool MappedMemory::write(std::uint64_t address, std::span<const std::byte> from) {
    return walk(address, from.size(), true,
                [from](std::byte *bytes, std::size_t at, std::size_t n) {
                    std::memcpy(bytes, from.data() + at, n);
                });
}

} // namespace nvmodel
