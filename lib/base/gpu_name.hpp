// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Words that name GPUs, as people copy them from nvidia-smi, lspci, kubectl and nvdebugctl.
/// All programs read them here, from options, files and requests alike.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nvdebug/expected.hpp"

namespace nvdebug::base {

/// The parts of a PCI address that a text has. A part that is missing in the text fits every
/// address.
struct PciAddress {
    std::optional<unsigned> domain;
    unsigned bus = 0, device = 0;
    std::optional<unsigned> function;
};

/// Parses `0000:01:00.0`, `00000000:3B:00.0`, `3b:00.0` or `0:6`, in any case. Returns nullopt if
/// @p text is not a PCI address.
std::optional<PciAddress> parse_pci_address(std::string_view text);

/// Returns whether the parts of @p wanted fit @p whole, an address with all parts.
bool is_address(const PciAddress &wanted, std::string_view whole);

/// A word that names a GPU. A word of none of these kinds may be the name of a chip.
struct GpuName {
    std::string word;                 ///< as it was typed
    std::optional<std::size_t> index; ///< `0`, `gpu0`, `GPU0`
    std::optional<PciAddress> address;
    std::string uuid; ///< `gpu-…` in lower case, or how a UUID begins; empty: not a UUID
    std::optional<unsigned> minor; ///< `/dev/nvidia1`: the number of the device file
    bool all = false;              ///< `all`
    bool mig = false;              ///< `MIG-…`: a partition of a GPU

    [[nodiscard]] bool is_gpu() const { return index || address || !uuid.empty() || minor || all; }
};

/// Parses a word that names a GPU. The kind of device that CDI and Kubernetes write in front,
/// `nvidia.com/gpu=0`, is skipped, and so is the number of a replica that the device plugin
/// appends, `GPU-57a2…::0`.
GpuName parse_gpu_name(std::string_view word);

/// Returns the names of a list, `0,2`. Fails with a sentence about the first word that can name no
/// GPU.
[[nodiscard]] tl::expected<std::vector<GpuName>, std::string>
parse_gpu_names(std::string_view words);

/// Returns whether the UUID @p whole begins with the name's UUID.
bool begins_uuid(const GpuName &name, std::string_view whole);

/// The GPUs that names may mean, by their places from 0 on. The functions below query only the
/// facts that a name needs.
class GpuSet {
  public:
    GpuSet() = default;
    GpuSet(const GpuSet &) = delete;
    GpuSet &operator=(const GpuSet &) = delete;
    virtual ~GpuSet() = default;

    [[nodiscard]] virtual std::size_t count() const = 0;
    /// Returns the number by which messages call the GPU, which mostly is its place.
    [[nodiscard]] virtual std::size_t number(std::size_t place) const { return place; }
    [[nodiscard]] virtual std::string address(std::size_t place) const = 0;
    /// Returns whether a query for the GPU's UUID or device file would wake it.
    [[nodiscard]] virtual bool is_asleep(std::size_t) const { return false; }
    [[nodiscard]] virtual std::optional<std::string> uuid(std::size_t place) const = 0;
    [[nodiscard]] virtual std::optional<unsigned> device_minor(std::size_t place) const = 0;
};

/// Returns the places of the GPUs that @p name means: none, or several if the UUID is cut too
/// short. GPUs that sleep are queried only if no other GPU fits.
[[nodiscard]] std::vector<std::size_t> places_of(const GpuName &name, const GpuSet &gpus);

/// Returns the places of the GPUs that the names mean, each once, in the order of the names. Fails
/// with a sentence if a name means no GPU, or several.
[[nodiscard]] tl::expected<std::vector<std::size_t>, std::string>
find_gpus(const std::vector<GpuName> &names, const GpuSet &gpus);

/// Returns why @p name means @p count GPUs instead of one, as a sentence without a full stop.
[[nodiscard]] std::string not_one(const GpuName &name, std::size_t count, const GpuSet &gpus);

/// Returns @p text with its ASCII letters in lower case.
std::string lower(std::string_view text);

} // namespace nvdebug::base
