// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief What NVIDIA's driver calls a GPU: its UUID, the name of the product, its device file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "nvdebug/export.hpp"
#include "nvdebug/info.hpp"
#include "nvdebug/tree.hpp"

namespace nvdebug {

/// Empty: not known. Texts may be of any bytes.
struct Product {
    std::optional<std::string> uuid; ///< `GPU-57a2…`, as nvidia-smi prints it
    std::optional<std::string> name; ///< `NVIDIA H100 80GB HBM3`
    /// N of `/dev/nvidiaN`. On some machines it is not the GPU's number by PCI address.
    std::optional<std::uint32_t> minor = {};
    bool operator==(const Product &) const = default;
};

/// The product at @p pci_address (`0000:01:00.0`) of this machine, from
/// `/proc/driver/nvidia/gpus/ADDRESS/information`. Reading that file wakes a GPU, so that of one
/// that is suspended (`power/runtime_status` in sysfs) it is not read, and nothing is known.
/// @param driver_folder, pci_folder for tests.
NVDEBUG_API Product product_of(const std::string &pci_address,
                               const std::string &driver_folder = "/proc/driver/nvidia",
                               const std::string &pci_folder = "/sys/bus/pci/devices");

/// That of a GPU of @p tree, by its @p info. Nothing is known of a file's (Source::file): what has
/// its address here and now may be another GPU.
NVDEBUG_API Product product_of(const Tree &tree, const Info &info,
                               const std::string &driver_folder = "/proc/driver/nvidia",
                               const std::string &pci_folder = "/sys/bus/pci/devices");

} // namespace nvdebug
