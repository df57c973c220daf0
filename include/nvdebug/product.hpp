// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief NVIDIA's names for a GPU: its UUID, the name of the product, and its device file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "nvdebug/export.hpp"
#include "nvdebug/info.hpp"
#include "nvdebug/tree.hpp"

namespace nvdebug {

/// The names of a GPU; empty: unknown. The texts may have any bytes.
struct Product {
    std::optional<std::string> uuid; ///< `GPU-57a2…`, as nvidia-smi prints it
    std::optional<std::string> name; ///< `NVIDIA H100 80GB HBM3`
    /// N of `/dev/nvidiaN`, which on some machines differs from the GPU's number by PCI address.
    std::optional<std::uint32_t> minor = {};
    bool operator==(const Product &) const = default;
};

/// Returns the product at @p pci_address (`0000:01:00.0`) of this machine, from
/// `/proc/driver/nvidia/gpus/ADDRESS/information`. Reading that file would wake a suspended GPU
/// (`power/runtime_status` in sysfs), so the product of such a GPU is unknown.
/// @param driver_folder, pci_folder for tests
NVDEBUG_API Product product_of(const std::string &pci_address,
                               const std::string &driver_folder = "/proc/driver/nvidia",
                               const std::string &pci_folder = "/sys/bus/pci/devices");

/// Returns the product of a GPU of @p tree, by its @p info. For Source::file it is unknown, because
/// this machine may have another GPU at that address.
NVDEBUG_API Product product_of(const Tree &tree, const Info &info,
                               const std::string &driver_folder = "/proc/driver/nvidia",
                               const std::string &pci_folder = "/sys/bus/pci/devices");

} // namespace nvdebug
