// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Words that name a GPU, as people copy them from nvidia-smi, lspci and nvdebugctl.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

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
    std::optional<std::size_t> index; ///< `0`, `gpu0`, `GPU0`
    std::optional<PciAddress> address;
    std::string uuid; ///< `gpu-…` in lower case, its begin is enough; empty: it is no UUID
    bool mig = false; ///< `MIG-…`: a part of a GPU
};

GpuName parse_gpu_name(std::string_view word);

/// Does the name's UUID begin the UUID @p whole?
bool begins_uuid(const GpuName &name, std::string_view whole);

/// ASCII letters in lower case.
std::string lower(std::string_view text);

} // namespace nvdebug::base
