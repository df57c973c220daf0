// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The files in which nvtaskset keeps the TPCs of each GPU.
#pragma once

#include <optional>
#include <string>

#include "gpu_map.hpp"

namespace nvtaskset {

/// Returns the folder of the maps. For root it is always `/run/nvtaskset`, so that a service, which
/// has no HOME, finds the maps that root's shell has made. For others it is the user's cache, or
/// runtime_path() if another user could change the cache.
[[nodiscard]] std::string maps_path();
/// Returns the map of the GPU that was kept for this driver_version(). Returns nullopt if there is
/// none, or if a user other than this one and root could have made it.
[[nodiscard]] std::optional<GpuMap> kept_map(const Uuid &uuid, const std::string &driver);

} // namespace nvtaskset
