// SPDX-License-Identifier: MIT OR GPL-2.0
#include "tee.hpp"

namespace nvdebugctl {

using nvdebug::Turn;

void Tee::head(const RecordingHead &head) {
    for (Sink *const sink : sinks_)
        sink->head(head);
}

void Tee::clock(std::uint32_t gpu, const ClockReading &reading) {
    for (Sink *const sink : sinks_)
        sink->clock(gpu, reading);
}

void Tee::process(std::uint32_t gpu, const RecordedProcess &process) {
    for (Sink *const sink : sinks_)
        sink->process(gpu, process);
}

void Tee::turn(const Lane &lane, const Turn &turn, const RecordedProcess *process) {
    for (Sink *const sink : sinks_)
        sink->turn(lane, turn, process);
}

void Tee::lost(const Lane &lane, std::uint64_t ns, std::uint64_t count) {
    for (Sink *const sink : sinks_)
        sink->lost(lane, ns, count);
}

void Tee::mark(const Mark &mark) {
    for (Sink *const sink : sinks_)
        sink->mark(mark);
}

void Tee::end(const Lane &lane, const LaneEnd &end) {
    for (Sink *const sink : sinks_)
        sink->end(lane, end);
}

void Tee::launch(const drawing::Launch &launch) {
    for (Sink *const sink : sinks_)
        sink->launch(launch);
}

void Tee::end(const Json &summary) {
    for (Sink *const sink : sinks_)
        sink->end(summary);
}

} // namespace nvdebugctl
