// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The mode `dra`: a driver of dynamic resource allocation, for claims of a share of a GPU.
#pragma once

#include "failure.hpp"
#include "lib/cli/parse.hpp"

namespace nvdebug::kubernetes {

[[nodiscard]] cli::Verb dra_verb();

/// Runs until a signal ends the program. The caller has blocked these signals.
[[nodiscard]] Outcome<Exit> run_dra(const cli::Arguments &arguments);

} // namespace nvdebug::kubernetes
