// SPDX-License-Identifier: MIT OR GPL-2.0
// Answers the request "layout": the driver's structures and their places.
#pragma once

#include "device/gpu.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>

namespace nvmodel {

std::string hex(std::uint64_t value);

/// Throws ConfigError if the workload is not started.
nlohmann::ordered_json layout_of(const Gpu &gpu);

} // namespace nvmodel
