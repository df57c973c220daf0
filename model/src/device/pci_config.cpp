// SPDX-License-Identifier: MIT OR GPL-2.0
#include "device/pci_config.hpp"

namespace nvmodel {
namespace {

// PCI Local Bus Specification 3.0, chapter 6.
constexpr unsigned vendor_id = 0x00;
constexpr unsigned device_id = 0x02;
constexpr unsigned command = 0x04;
constexpr std::uint16_t command_memory = 1U << 1;
constexpr std::uint16_t command_master = 1U << 2;
constexpr std::uint16_t command_intx_disable = 1U << 10;
constexpr unsigned status = 0x06;
constexpr std::uint16_t status_capabilities = 1U << 4;
constexpr unsigned revision_id = 0x08;
constexpr unsigned class_code = 0x09;
constexpr unsigned cache_line_size = 0x0c;
constexpr unsigned latency_timer = 0x0d;
constexpr unsigned base_address = 0x10;
constexpr std::uint32_t base_wide = 0x4; // 64 bits
constexpr std::uint32_t base_prefetchable = 0x8;
constexpr std::uint32_t base_flags = 0xf;
constexpr unsigned subsystem_vendor_id = 0x2c;
constexpr unsigned subsystem_id = 0x2e;
constexpr unsigned capabilities = 0x34;
constexpr unsigned interrupt_line = 0x3c;
constexpr unsigned interrupt_pin = 0x3d;

// PCI Bus Power Management Interface 1.2.
constexpr unsigned pm = 0x60;
constexpr std::uint8_t pm_id = 0x01;
constexpr std::uint16_t pm_version = 3;
constexpr unsigned pm_control = pm + 4;
constexpr std::uint16_t pm_state = 0x3;
constexpr std::uint16_t pm_no_soft_reset = 1U << 3;

} // namespace

PciConfig::PciConfig(const Board &board) : resources_(board.generation->pci_resources) {
    set16(vendor_id, board.pci.vendor);
    set16(device_id, board.pci.device);
    set16(command, 0, command_memory | command_master | command_intx_disable);
    set16(status, status_capabilities);
    set8(revision_id, board.pci.revision);
    set8(class_code, static_cast<std::uint8_t>(board.pci.class_code));
    set16(class_code + 1, static_cast<std::uint16_t>(board.pci.class_code >> 8));
    set8(cache_line_size, 0, 0xff);
    set8(latency_timer, 0, 0xff);
    set16(subsystem_vendor_id, board.pci.subsystem_vendor);
    set16(subsystem_id, board.pci.subsystem);
    set8(capabilities, pm);
    set8(interrupt_line, 0, 0xff);
    set8(interrupt_pin, 1);
    set8(pm, pm_id);
    set16(pm + 2, pm_version);
    set16(pm_control, pm_no_soft_reset, pm_state);
    define_bar(Bar::registers, board.bar0.modelled, board.bar_form);
    define_bar(Bar::framebuffer, board.bar1.modelled, board.bar_form);
    define_bar(Bar::instance, board.bar2.modelled, board.bar_form);
    now_ = initial_;
}

void PciConfig::set8(unsigned offset, std::uint8_t value, std::uint8_t writable) {
    initial_.at(offset) = value;
    writable_.at(offset) = writable;
}

void PciConfig::set16(unsigned offset, std::uint16_t value, std::uint16_t writable) {
    set8(offset, static_cast<std::uint8_t>(value), static_cast<std::uint8_t>(writable));
    set8(offset + 1, static_cast<std::uint8_t>(value >> 8),
         static_cast<std::uint8_t>(writable >> 8));
}

void PciConfig::set32(unsigned offset, std::uint32_t value, std::uint32_t writable) {
    set16(offset, static_cast<std::uint16_t>(value), static_cast<std::uint16_t>(writable));
    set16(offset + 2, static_cast<std::uint16_t>(value >> 16),
          static_cast<std::uint16_t>(writable >> 16));
}

std::optional<unsigned> PciConfig::bar_register(Bar bar) const {
    const auto resource = resources_.at(static_cast<std::size_t>(bar));
    return resource ? std::optional(base_address + 4 * *resource) : std::nullopt;
}

std::optional<Bar> PciConfig::bar_at(unsigned resource) const {
    for (const Bar bar : {Bar::registers, Bar::framebuffer, Bar::instance})
        if (resources_.at(static_cast<std::size_t>(bar)) == resource)
            return bar;
    return std::nullopt;
}

/// Defines a memory BAR. The bits that cannot be set show its size. A wide BAR takes the next
/// register for its upper half.
void PciConfig::define_bar(Bar bar, std::uint64_t size, BarForm form) {
    const auto index = static_cast<std::size_t>(bar);
    const auto at = bar_register(bar);
    if (!at)
        return;
    const bool wide = form == BarForm::product && !bar_at(*resources_.at(index) + 1);
    const std::uint64_t settable = ~(size - 1);
    bar_size_.at(index) = size;
    bar_wide_.at(index) = wide;
    set32(*at, wide ? base_wide | base_prefetchable : 0, static_cast<std::uint32_t>(settable));
    if (wide)
        set32(*at + 4, 0, static_cast<std::uint32_t>(settable >> 32));
}

std::uint64_t PciConfig::bar_base(unsigned at, bool wide) const {
    const std::uint64_t low = word(at) & ~base_flags;
    return wide ? std::uint64_t{word(at + 4)} << 32 | low : low;
}

std::uint32_t PciConfig::word(unsigned offset) const {
    return static_cast<std::uint32_t>(now_.at(offset)) |
           static_cast<std::uint32_t>(now_.at(offset + 1)) << 8 |
           static_cast<std::uint32_t>(now_.at(offset + 2)) << 16 |
           static_cast<std::uint32_t>(now_.at(offset + 3)) << 24;
}

std::uint32_t PciConfig::read(std::uint32_t offset, unsigned size) const {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < size; ++i) {
        const std::uint64_t at = std::uint64_t{offset} + i;
        const std::uint32_t byte = at < space ? now_.at(at) : 0xff;
        value |= byte << (8 * i);
    }
    return value;
}

void PciConfig::write(std::uint32_t offset, std::uint32_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) {
        const std::uint64_t at = std::uint64_t{offset} + i;
        if (at >= space)
            return;
        const auto byte = static_cast<std::uint8_t>(value >> (8 * i));
        const std::uint8_t mask = writable_.at(at);
        now_.at(at) = static_cast<std::uint8_t>((now_.at(at) & ~mask) | (byte & mask));
    }
}

void PciConfig::reset() {
    now_ = initial_;
}

bool PciConfig::decodes_memory() const {
    return (word(command) & command_memory) != 0;
}

std::optional<PciConfig::Hit> PciConfig::decode(std::uint64_t address, unsigned size) const {
    if (!decodes_memory())
        return std::nullopt;
    for (const Bar bar : {Bar::registers, Bar::framebuffer, Bar::instance}) {
        const auto at = bar_register(bar);
        if (!at)
            continue;
        const std::uint64_t base = bar_base(*at, bar_wide_.at(static_cast<std::size_t>(bar)));
        const std::uint64_t length = bar_size(bar);
        if (address >= base && address - base < length && size <= length - (address - base))
            return Hit{bar, address - base};
    }
    return std::nullopt;
}

bool PciConfig::powered_down() const {
    return (word(pm_control) & pm_state) == pm_state;
}

} // namespace nvmodel
