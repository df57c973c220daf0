// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Makes traces for Perfetto in which the times of all GPUs are by one clock.
#pragma once

#include <memory>
#include <string>

#include "nvdebug/jobs.hpp"
#include "recorded_events.hpp"

namespace nvdebugctl {

/// Makes a sink that writes a trace for Perfetto. Times become CLOCK_BOOTTIME's, on the line between
/// the readings of clocks before and after them. Perfetto itself goes on from the reading before a
/// time, which is wrong by the drift of up to a second, 20 us on an H100.
///
/// So events are kept until the next reading of their GPU's clock, and at most @p most_pending of
/// them for a GPU. The trace has a track `clock` for each GPU, with the drift between readings, and
/// at its end the bound of the error. A GPU without a reading before its first event keeps its own
/// times.
[[nodiscard]] std::unique_ptr<TextSink> make_aligned(std::size_t most_pending = 200'000);

/// Returns the bound of the error as a sentence, for a trace and a summary: `times of gpu0 are
/// within 7.28 us of the machine's clock, …`.
[[nodiscard]] std::string sentence_of(std::uint32_t gpu, const nvdebug::ClockFit &fit);

} // namespace nvdebugctl
