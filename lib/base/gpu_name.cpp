// SPDX-License-Identifier: MIT OR GPL-2.0
#include "gpu_name.hpp"

#include <algorithm>
#include <charconv>

#include "printable.hpp"
#include "uuid_form.hpp"

namespace nvdebug::base {
namespace {

/// Returns the number that is the whole of @p text. The number has at most @p digits digits and is
/// not above @p most.
std::optional<unsigned> number(std::string_view text, int base, std::size_t digits, unsigned most) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (text.empty() || text.size() > digits || error != std::errc() ||
        end != text.data() + text.size() || value > most)
        return std::nullopt;
    return value;
}

/// Returns whether @p kind may stand before a device's name: `nvidia.com/gpu`,
/// `k8s.device-plugin.nvidia.com/gpu`.
bool is_gpu_kind(std::string_view kind) {
    constexpr std::string_view own = "nvidia.com/gpu";
    return kind.ends_with(own) &&
           (kind.size() == own.size() || kind[kind.size() - own.size() - 1] == '.');
}

constexpr const char *forms =
    "write its number (0), several (0,2) or all, its PCI address (0000:3b:00.0), the beginning of "
    "its UUID (GPU-57a2), or its device file (/dev/nvidia0)";

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
    GpuName name;
    name.word = word;
    std::string text = lower(word);
    bool is_device = false;
    if (const std::size_t sign = text.find('='); sign != text.npos) {
        is_device = is_gpu_kind(std::string_view(text).substr(0, sign));
        if (!is_device)
            return name;
        text.erase(0, sign + 1);
    }
    if (const std::size_t colons = text.find("::"); colons != text.npos) {
        if (!number(std::string_view(text).substr(colons + 2), 10, 9, ~0U))
            return name;
        text.resize(colons);
    }
    constexpr std::string_view node = "/dev/nvidia", uuid = "gpu-", mig = "mig-";
    const auto decimal = [](std::string_view digits) {
        const auto value = number(digits, 10, 6, ~0U);
        return value && std::to_string(*value) == digits ? value : std::nullopt;
    };
    name.all = text == "all";
    // In a device of CDI, 0:1 is partition 1 of GPU 0 and no PCI address.
    name.mig = text.starts_with(mig) || (is_device && text.find(':') != text.npos);
    if (name.mig)
        return name;
    name.address = parse_pci_address(text);
    if (text.starts_with(uuid) && is_uuid_begin(std::string_view(text).substr(uuid.size())))
        name.uuid = text;
    if (text.starts_with(node))
        name.minor = decimal(std::string_view(text).substr(node.size()));
    name.index = decimal(std::string_view(text).substr(text.starts_with("gpu") ? 3 : 0));
    return name;
}

tl::expected<std::vector<GpuName>, std::string> parse_gpu_names(std::string_view words) {
    std::vector<GpuName> names;
    for (std::size_t begin = 0; begin <= words.size();) {
        const std::size_t end = std::min(words.find(',', begin), words.size());
        std::string_view word = words.substr(begin, end - begin);
        begin = end + 1;
        while (word.starts_with(' '))
            word.remove_prefix(1);
        while (word.ends_with(' '))
            word.remove_suffix(1);
        if (word.empty())
            return tl::unexpected("'" + printable(words) + "' is no list of GPUs: a name is empty");
        names.push_back(parse_gpu_name(word));
        if (names.back().mig)
            return tl::unexpected("'" + printable(word) +
                                  "' is a part of a GPU (MIG), and whole GPUs are named here");
        if (!names.back().is_gpu())
            return tl::unexpected("'" + printable(word) + "' cannot be a GPU's name: " + forms);
    }
    return names;
}

bool begins_uuid(const GpuName &name, std::string_view whole) {
    return !name.uuid.empty() && lower(whole).starts_with(name.uuid);
}

std::vector<std::size_t> places_of(const GpuName &name, const GpuSet &gpus) {
    std::vector<std::size_t> found;
    const std::size_t count = gpus.count();
    if (name.all || name.index || name.address) {
        for (std::size_t at = 0; at < count; at++)
            if (name.all || name.index == gpus.number(at) ||
                (name.address && is_address(*name.address, gpus.address(at))))
                found.push_back(at);
        return found;
    }
    if (name.uuid.empty() && !name.minor)
        return found;
    for (const bool asleep : {false, true})
        for (std::size_t at = 0; at < count && (!asleep || found.empty()); at++) {
            if (gpus.is_asleep(at) != asleep)
                continue;
            const auto uuid = name.minor ? std::nullopt : gpus.uuid(at);
            if (name.minor ? gpus.device_minor(at) != name.minor
                           : !uuid || !begins_uuid(name, *uuid))
                continue;
            found.push_back(at);
            // A whole UUID or a device file belongs to one GPU, so the other GPUs are not queried.
            if (name.minor || uuid->size() == name.uuid.size())
                return found;
        }
    return found;
}

std::string not_one(const GpuName &name, std::size_t count, const GpuSet &gpus) {
    std::string sentence = (count ? "more than one GPU is '" : "there is no GPU '") +
                           printable(name.word) + "': here ";
    if (gpus.count() == 0)
        return sentence + "is none";
    const std::size_t first = gpus.number(0), last = gpus.number(gpus.count() - 1);
    if (gpus.count() == 1)
        return sentence + "is " + std::to_string(first) +
               (gpus.address(0).empty() ? "" : " (" + gpus.address(0) + ")");
    // The numbers are printed as a range if they have no gap, and else one by one.
    if (last - first + 1 == gpus.count())
        return sentence + "are " + std::to_string(first) + " to " + std::to_string(last);
    sentence += "are ";
    for (std::size_t at = 0; at < gpus.count(); at++)
        sentence += (at ? ", " : "") + std::to_string(gpus.number(at));
    return sentence;
}

tl::expected<std::vector<std::size_t>, std::string> find_gpus(const std::vector<GpuName> &names,
                                                              const GpuSet &gpus) {
    std::vector<std::size_t> found;
    for (const GpuName &name : names) {
        const std::vector<std::size_t> places = places_of(name, gpus);
        if (places.size() != 1 && !name.all)
            return tl::unexpected(not_one(name, places.size(), gpus));
        for (const std::size_t place : places)
            if (std::ranges::find(found, place) == found.end())
                found.push_back(place);
    }
    return found;
}

} // namespace nvdebug::base
