// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The events of a recording. They come from a recorder or from a file.
#pragma once

#include "lib/drawing/events.hpp"
#include "lib/recording/events.hpp"

namespace nvdebugctl {

using drawing::ClockReading;
using drawing::Lane;
using drawing::LaneEnd;
using drawing::Mark;
using drawing::name_of;
using drawing::RecordedGpu;
using drawing::RecordedProcess;
using drawing::RecordingHead;
using drawing::Sink;
using drawing::TextSink;
using recording::Origin;
using recording::process_of;
using recording::RecordedProcesses;

} // namespace nvdebugctl
