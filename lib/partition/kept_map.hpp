// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The files in which nvtaskset keeps what TPCs a GPU has.
#pragma once

#include <optional>
#include <string>

#include "gpu_map.hpp"

namespace nvtaskset {

/// Returns the folder of the maps: for root always `/run/nvtaskset`, so that a service, which
/// has no HOME, finds what root's shell has made; for others the user's cache, or runtime_path()
/// where another user could change that.
[[nodiscard]] std::string maps_path();
/// What is kept of the GPU for this driver_version(). nullopt: there is none, or one that another
/// user than root could have made.
[[nodiscard]] std::optional<GpuMap> kept_map(const Uuid &uuid, const std::string &driver);

} // namespace nvtaskset
