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

void MappedMemory::clear() {
    for (const Mapping &mapping : mappings_)
        ::munmap(mapping.base, mapping.length);
    mappings_.clear();
}

void MappedMemory::replace(const std::vector<Region> &regions) {
    clear();
    try {
        for (const Region &region : regions)
            map(region);
    } catch (...) {
        clear();
        throw;
    }
}

/// A mapping that reaches beyond its file would kill the process on access, so sizes are checked.
void MappedMemory::map(const Region &region) {
    struct stat file {};
    if (::fstat(region.fd.get(), &file) != 0)
        throw ProtocolError("SYNC_SYSMEM: descriptor unusable: " +
                            std::string(std::strerror(errno)));
    const auto file_size = static_cast<std::uint64_t>(file.st_size);
    if (region.size == 0 || region.size > file_size || region.offset > file_size - region.size)
        throw ProtocolError("SYNC_SYSMEM: region is not inside its file");
    if (region.address > std::numeric_limits<std::uint64_t>::max() - region.size)
        throw ProtocolError("SYNC_SYSMEM: region beyond the end of the address space");
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const std::uint64_t before = region.offset % page;
    const std::size_t length = static_cast<std::size_t>(region.size + before);
    void *const base = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, region.fd.get(),
                              static_cast<off_t>(region.offset - before));
    if (base == MAP_FAILED)
        throw ProtocolError("SYNC_SYSMEM: mmap: " + std::string(std::strerror(errno)));
    mappings_.push_back(
        {region.address, region.size, static_cast<std::byte *>(base) + before, base, length});
}

const MappedMemory::Mapping *MappedMemory::find(std::uint64_t address) const {
    const auto found = std::ranges::find_if(mappings_, [address](const Mapping &mapping) {
        return address >= mapping.address && address - mapping.address < mapping.size;
    });
    return found == mappings_.end() ? nullptr : &*found;
}

/// Calls copy(bytes, position, length) for each piece of a range; false, with no call, if any
/// byte of it is not mapped.
template <typename Copy>
bool MappedMemory::walk(std::uint64_t address, std::size_t length, Copy copy) const {
    for (const bool dry : {true, false}) {
        std::size_t done = 0;
        while (done < length) {
            const std::uint64_t at = address + done;
            const Mapping *const mapping = at >= address ? find(at) : nullptr;
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
    return walk(address, to.size(), [to](const std::byte *bytes, std::size_t at, std::size_t n) {
        std::memcpy(to.data() + at, bytes, n);
    });
}

bool MappedMemory::write(std::uint64_t address, std::span<const std::byte> from) {
    return walk(address, from.size(), [from](std::byte *bytes, std::size_t at, std::size_t n) {
        std::memcpy(bytes, from.data() + at, n);
    });
}

} // namespace nvmodel
