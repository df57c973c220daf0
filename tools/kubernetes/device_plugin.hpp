// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The mode `device-plugin`: parts of GPUs' time as the resource nvdebug.io/gpu-percent.
#pragma once

#include "failure.hpp"
#include "lib/cli/parse.hpp"

namespace nvdebug::kubernetes {

[[nodiscard]] cli::Verb device_plugin_verb();

/// Runs until a signal ends the program. The caller has blocked these signals.
[[nodiscard]] Outcome<Exit> run_device_plugin(const cli::Arguments &arguments);

} // namespace nvdebug::kubernetes
