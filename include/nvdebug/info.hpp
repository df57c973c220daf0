// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief `info`: which GPU this is, and which features the module has for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nvdebug {

/// A feature of the module, which a chip has or lacks.
struct Feature {
    std::string name; ///< `device_info`, `runlist`, `channel_control`, …
    bool available;
    std::string reason; ///< why not; empty if available
};

/// The lines of `info`. Values that are unknown are empty.
struct Info {
    std::optional<std::string> chip; ///< `GA100`; empty: unknown chip
    std::optional<std::uint32_t> chip_id;
    std::optional<std::string> generation; ///< `Ampere`
    std::optional<std::uint32_t> revision;
    std::optional<std::string> pci_address;   ///< `0000:01:00.0`; empty for integrated GPUs
    std::optional<std::string> pci_id;        ///< `10de:20b0`
    std::optional<std::string> pci_subsystem; ///< as pci_id
    std::optional<std::uint32_t> pci_class;
    std::optional<std::uint64_t> bar_size[3];   ///< BAR0, BAR1, BAR2 in NVIDIA's numbering, bytes
    std::optional<std::string> driver;          ///< bound now; empty: none
    std::optional<std::uint32_t> channels;      ///< ids per GPU, or per runlist if ids_per_runlist
    std::optional<bool> ids_per_runlist;        ///< channel and TSG ids (Ampere and newer)
    std::vector<std::uint32_t> runlists;        ///< ids that have a file, rising
    std::optional<std::string> runlists_note;   ///< the text in parentheses in `info`
    std::optional<std::string> page_tables;     ///< `1`, `1 or 2`, `2`, `3`
    std::optional<std::uint64_t> video_memory;  ///< bytes
    std::vector<Feature> features;              ///< in the file's order
    std::optional<std::string> platform_device; ///< `17000000.gpu`; empty for GPUs on PCI
    std::optional<std::string> compatible;      ///< `nvidia,ga10b`: the name in the device tree

    /// Returns the feature; nullptr: `info` does not name it (another version of the module).
    const Feature *feature(const std::string &name) const {
        for (const Feature &feature : features)
            if (feature.name == name)
                return &feature;
        return nullptr;
    }
};

} // namespace nvdebug
