// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Names of GPUs, as options, files and requests have them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "failure.hpp"
#include "nvdebug/gpu.hpp"

namespace nvqos {

/// Adds the names of a list, `0,2`, each once. Fails with Exit::bad_usage if a word can name no
/// GPU; whether there is one is not asked.
Outcome<void> add_gpus(std::string_view words, std::vector<std::string> &to);

/// Returns the numbers of the GPUs among @p gpus that the names mean, each once; none: all are
/// meant. Fails with a sentence if a name means none or several.
/// @param driver_folder where NVIDIA's driver describes GPUs
Outcome<std::vector<std::uint32_t>> numbers_of(const std::vector<std::string> &names,
                                               const std::vector<nvdebug::Gpu> &gpus,
                                               const std::string &driver_folder);

/// `/proc/driver/nvidia`; tests have another place.
std::string driver_folder();

} // namespace nvqos
