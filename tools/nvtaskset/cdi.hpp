// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Partitions as devices of containers: files of the Container Device Interface (CDI) 0.5.0.
#pragma once

#include "options.hpp"

namespace nvtaskset {

/// Writes FOLDER/nvdebug.io-tpcs-NAME.json, which replaces an earlier one as a whole, and prints
/// the device that `podman run --device` takes.
[[nodiscard]] Exit write_device(const Options &options);

} // namespace nvtaskset
