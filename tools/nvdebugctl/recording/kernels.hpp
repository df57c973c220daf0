// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The launches of programs, which --kernels adds to a trace for Perfetto.
#pragma once

#include <vector>

#include "cli/context.hpp"
#include "lib/recording/launches.hpp"
#include "recorded_events.hpp"

namespace nvdebugctl {

/// Returns the option --kernels.
[[nodiscard]] std::vector<Option> kernels_options();

/// Checks --kernels before anything is recorded.
[[nodiscard]] Outcome<void> check_kernels(const Context &context);

/// Passes the launches of the folder of --kernels, if it was given, that are in the recording's
/// time. Notes what is not there.
[[nodiscard]] Outcome<void> add_launches(Context &context, const recording::TimeSpan &time,
                                         Sink &sink);

} // namespace nvdebugctl
