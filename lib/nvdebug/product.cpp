// SPDX-License-Identifier: MIT OR GPL-2.0
#include "nvdebug/product.hpp"
#include "lib/base/text.hpp"

#include <array>
#include <charconv>
#include <fcntl.h>
#include <unistd.h>

namespace nvdebug {
namespace {

/// Returns the beginning of a small file, without waiting; empty if it cannot be read.
std::string read_small(const std::string &path) {
    std::array<char, 4096> text{};
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        return {};
    const ssize_t got = ::read(descriptor, text.data(), text.size());
    ::close(descriptor);
    return {text.data(), static_cast<std::size_t>(got > 0 ? got : 0)};
}

/// Returns the value unless it has question marks, which the driver writes for a GPU that is not
/// set up.
std::optional<std::string> known(std::string_view value) {
    if (value.empty() || value.find('?') != value.npos)
        return std::nullopt;
    return std::string(value);
}

std::string_view strip(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == text.npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::optional<std::uint32_t> minor_in(std::string_view value) {
    std::uint32_t minor = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), minor);
    return error == std::errc() && end == value.data() + value.size() ? std::optional(minor)
                                                                      : std::nullopt;
}

} // namespace

Product product_of(const std::string &pci_address, const std::string &driver_folder,
                   const std::string &pci_folder) {
    if (pci_address.empty() || pci_address.find('/') != pci_address.npos)
        return {};
    const std::string power = read_small(pci_folder + "/" + pci_address + "/power/runtime_status");
    if (strip(std::string_view(power).substr(0, power.find('\n'))) == "suspended")
        return {};
    const std::string lines = read_small(driver_folder + "/gpus/" + pci_address + "/information");
    Product product;
    for (std::string_view rest = lines; !rest.empty();) {
        std::string_view value = text::take_until(rest, '\n');
        const std::string_view key = strip(text::take_until(value, ':'));
        if (key == "Model")
            product.name = known(strip(value));
        else if (key == "GPU UUID")
            product.uuid = known(strip(value));
        else if (key == "Device Minor")
            product.minor = minor_in(strip(value));
    }
    return product;
}

Product product_of(const Tree &tree, const Info &info, const std::string &driver_folder,
                   const std::string &pci_folder) {
    return tree.source() == Source::file
               ? Product{}
               : product_of(info.pci_address.value_or(""), driver_folder, pci_folder);
}

} // namespace nvdebug
