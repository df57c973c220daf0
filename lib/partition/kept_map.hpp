// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The files in which nvtaskset keeps what TPCs a GPU has.
#pragma once

#include <optional>
#include <string>

#include "gpu_map.hpp"

namespace nvtaskset {

/// The user's cache; where another user could change it, as root's with a user's HOME, a folder
/// until the next boot.
[[nodiscard]] std::string maps_path();
/// What is kept of the GPU for this driver_version(). nullopt: there is none, or one that another
/// user than root could have made.
[[nodiscard]] std::optional<GpuMap> kept_map(const Uuid &uuid, const std::string &driver);

} // namespace nvtaskset
