// SPDX-License-Identifier: MIT OR GPL-2.0
#include "machine.hpp"

#include <array>
#include <stdexcept>
#include <string>

namespace lab {

Machine::Machine(nvmodel::Gpu &gpu) : gpu_(gpu) {
    const std::array<std::string, 2> from_now_on{"freeze-after", "0"};
    gpu_.faults().add(from_now_on);
    if (probe())
        throw std::runtime_error("the module's core does not know this GPU");
}

std::uint32_t Machine::register_read(std::uint32_t offset) {
    return static_cast<std::uint32_t>(gpu_.bar_read(nvmodel::Bar::registers, offset, 4));
}

void Machine::register_write(std::uint32_t offset, std::uint32_t value) {
    gpu_.bar_write(nvmodel::Bar::registers, offset, value, 4);
}

std::optional<std::uint32_t> Machine::memory_read(std::uint8_t aperture, std::uint64_t address) {
    if (!gpu_.memory().in_video({nvmodel::Aperture{aperture}, address}))
        return std::nullopt;
    return gpu_.direct_read(address);
}

// This machine only looks at the GPU, so it writes nothing.
bool Machine::memory_write(std::uint8_t, std::uint64_t, std::uint32_t) {
    return false;
}
std::optional<std::uint64_t> Machine::lend(std::size_t) {
    return std::nullopt;
}
void Machine::take_back(std::uint64_t, std::size_t) {}

} // namespace lab
