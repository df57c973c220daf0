// SPDX-License-Identifier: MIT OR GPL-2.0
#include "gpu_name.hpp"

#include <algorithm>
#include <charconv>

namespace nvdebug::base {
namespace {

/// A number of at most @p digits digits that is the whole of @p text, and not above @p most.
std::optional<unsigned> number(std::string_view text, int base, std::size_t digits, unsigned most) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (text.empty() || text.size() > digits || error != std::errc() ||
        end != text.data() + text.size() || value > most)
        return std::nullopt;
    return value;
}

} // namespace

std::string lower(std::string_view text) {
    std::string result(text);
    std::ranges::transform(result, result.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return result;
}

std::optional<PciAddress> parse_pci_address(std::string_view text) {
    PciAddress address;
    const std::size_t last = text.rfind(':');
    if (last == text.npos)
        return std::nullopt;
    std::string_view front = text.substr(0, last), back = text.substr(last + 1);
    if (const std::size_t colon = front.find(':'); colon != front.npos) {
        address.domain = number(front.substr(0, colon), 16, 8, ~0U);
        front.remove_prefix(colon + 1);
        if (!address.domain)
            return std::nullopt;
    }
    if (const std::size_t dot = back.find('.'); dot != back.npos) {
        address.function = number(back.substr(dot + 1), 16, 1, 7);
        back = back.substr(0, dot);
        if (!address.function)
            return std::nullopt;
    }
    const auto bus = number(front, 16, 2, 0xff), device = number(back, 16, 2, 0x1f);
    if (!bus || !device)
        return std::nullopt;
    address.bus = *bus;
    address.device = *device;
    return address;
}

bool is_address(const PciAddress &wanted, std::string_view whole) {
    const auto found = parse_pci_address(whole);
    return found && wanted.bus == found->bus && wanted.device == found->device &&
           (!wanted.domain || wanted.domain == found->domain) &&
           (!wanted.function || wanted.function == found->function);
}

GpuName parse_gpu_name(std::string_view word) {
    const std::string text = lower(word);
    GpuName name;
    name.address = parse_pci_address(text);
    if (text.starts_with("gpu-"))
        name.uuid = text;
    name.mig = text.starts_with("mig-");
    const std::string_view digits = std::string_view(text).substr(text.starts_with("gpu") ? 3 : 0);
    if (const auto index = number(digits, 10, 6, ~0U); index && std::to_string(*index) == digits)
        name.index = index;
    return name;
}

bool begins_uuid(const GpuName &name, std::string_view whole) {
    return !name.uuid.empty() && lower(whole).starts_with(name.uuid);
}

} // namespace nvdebug::base
