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

/// What is not in the text is not compared.
struct PciAddress {
    std::optional<unsigned> domain;
    unsigned bus = 0, device = 0;
    std::optional<unsigned> function;
};

/// `0000:01:00.0`, `00000000:3B:00.0`, `3b:00.0`, `0:6`; in any case. nullopt: it is no PCI
/// address.
std::optional<PciAddress> parse_pci_address(std::string_view text);

/// Is it the address @p whole, which has all parts?
bool is_address(const PciAddress &wanted, std::string_view whole);

/// A word that names a GPU. A name that is of none of these kinds may be a chip's.
struct GpuName {
    std::string word;                 ///< as it was typed
    std::optional<std::size_t> index; ///< `0`, `gpu0`, `GPU0`
    std::optional<PciAddress> address;
    std::string uuid; ///< `gpu-…` in lower case, its begin is enough; empty: it is no UUID
    std::optional<unsigned> minor; ///< `/dev/nvidia1`: the number of the device file
    bool all = false;              ///< `all`
    bool mig = false;              ///< `MIG-…`: a part of a GPU

    [[nodiscard]] bool is_gpu() const { return index || address || !uuid.empty() || minor || all; }
};

/// Also with the kind of device that CDI and Kubernetes write in front, `nvidia.com/gpu=0`, and
/// with the number of a replica that the device plugin appends, `GPU-57a2…::0`.
GpuName parse_gpu_name(std::string_view word);

/// Returns the names of a list, `0,2`, or why a word of it can name no GPU, in a sentence.
[[nodiscard]] tl::expected<std::vector<GpuName>, std::string>
parse_gpu_names(std::string_view words);

/// Does the name's UUID begin the UUID @p whole?
bool begins_uuid(const GpuName &name, std::string_view whole);

/// The GPUs that names may mean, by their places from 0 on. What is not needed is not asked for.
class GpuSet {
  public:
    GpuSet() = default;
    GpuSet(const GpuSet &) = delete;
    GpuSet &operator=(const GpuSet &) = delete;
    virtual ~GpuSet() = default;

    [[nodiscard]] virtual std::size_t count() const = 0;
    /// Its number, by which it is called here; mostly its place.
    [[nodiscard]] virtual std::size_t number(std::size_t place) const { return place; }
    [[nodiscard]] virtual std::string address(std::size_t place) const = 0;
    /// Would asking for its UUID or device file wake it?
    [[nodiscard]] virtual bool is_asleep(std::size_t) const { return false; }
    [[nodiscard]] virtual std::optional<std::string> uuid(std::size_t place) const = 0;
    [[nodiscard]] virtual std::optional<unsigned> device_minor(std::size_t place) const = 0;
};

/// Returns the places of the GPUs that @p name means: none, or several if the begin of a UUID is
/// too short. Those that sleep are asked only if no other fits.
[[nodiscard]] std::vector<std::size_t> places_of(const GpuName &name, const GpuSet &gpus);

/// Returns the places of the GPUs that the names mean, each once, in the names' order. Fails with a
/// sentence if a name means none or several.
[[nodiscard]] tl::expected<std::vector<std::size_t>, std::string>
find_gpus(const std::vector<GpuName> &names, const GpuSet &gpus);

/// Returns why @p name means @p count GPUs and not one, in a sentence without an end.
[[nodiscard]] std::string not_one(const GpuName &name, std::size_t count, const GpuSet &gpus);

/// ASCII letters in lower case.
std::string lower(std::string_view text);

} // namespace nvdebug::base
