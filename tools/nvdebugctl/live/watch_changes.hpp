// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The lines of `watch --changes`.
#pragma once

#include "cli/context.hpp"
#include "cli/output.hpp"
#include "pace.hpp"

namespace nvdebugctl {

/// Reads the GPUs again and again, and writes each difference to the moment before, as `capture diff`
/// does: as a line with its time, or with -j a document of nvdebug/capture.diff for each GPU in which
/// something changed.
[[nodiscard]] Outcome<Exit> watch_changes(Context &context, Output &output, const Pace &plan);

} // namespace nvdebugctl
