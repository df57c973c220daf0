// SPDX-License-Identifier: MIT OR GPL-2.0
#include "memory/memory.hpp"

#include "base/error.hpp"

#include <bit>
#include <sstream>

namespace nvmodel {

static_assert(std::endian::native == std::endian::little,
              "values are copied as they are; a big-endian host would need swaps");

bool Memory::read(PhysicalAddress at, std::span<std::byte> to) const {
    if (in_video(at))
        return video_.read(at.address, to);
    return guest_ != nullptr && guest_->read(at.address, to);
}

bool Memory::write(PhysicalAddress at, std::span<const std::byte> from) {
    if (in_video(at))
        return video_.write(at.address, from);
    return guest_ != nullptr && guest_->write(at.address, from);
}

void Memory::must_write(PhysicalAddress at, std::span<const std::byte> from) {
    if (write(at, from))
        return;
    std::ostringstream text;
    text << "there is no memory at " << std::hex << std::showbase << at.address;
    if (!in_video(at))
        text << " (is the guest running, and does --sysmem fit it?)";
    throw ConfigError(text.str());
}

std::optional<std::uint64_t> Memory::read_value(PhysicalAddress at, unsigned size) const {
    std::uint64_t value = 0;
    if (!read(at, std::as_writable_bytes(std::span(&value, 1)).first(size)))
        return std::nullopt;
    return value;
}

bool Memory::write_value(PhysicalAddress at, std::uint64_t value, unsigned size) {
    return write(at, std::as_bytes(std::span(&value, 1)).first(size));
}

bool Memory::read_words(PhysicalAddress at, std::span<std::uint32_t> to) const {
    return read(at, std::as_writable_bytes(to));
}

bool Memory::write_words(PhysicalAddress at, std::span<const std::uint32_t> from) {
    return write(at, std::as_bytes(from));
}

} // namespace nvmodel
