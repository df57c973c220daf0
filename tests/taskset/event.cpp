// SPDX-License-Identifier: MIT OR GPL-2.0
// Events and captures of streams. After STAND_IN_LOOKS queries an event shows that the launches
// before it have ended.
#include "callback.hpp"
#include "driver.hpp"
#include "log.hpp"

#include <cstdlib>

namespace stand_in {

namespace {

constexpr int global_mode = 0, relaxed_mode = 2;
// CUpti_driver_api_trace_cbid
constexpr int event_query = 120, event_synchronize = 121;
/// The capture mode of the thread. While a stream is captured in the global mode, threads in
/// stricter modes than the relaxed one must not call unsafe functions, which would end the capture.
thread_local int capture_mode = global_mode;

bool is_default(cuda::Stream stream) {
    return reinterpret_cast<std::uintptr_t>(stream) <= 2;
}

bool captures() {
    return driver().streams.any([](const CUstream_ &each) { return each.captured; });
}

unsigned long looks() {
    const char *const text = std::getenv("STAND_IN_LOOKS");
    return text ? std::stoul(text) : 0;
}

/// Calls @p body with an event of this process. The real driver would crash on an event that no
/// longer exists, and end a capture, so that both end the process here.
template <typename Body>
cuda::Result with_event(const char *what, cuda::Event event, Body body) {
    return locked([&](Lock &) {
        if (!driver().events.has(event))
            die(std::string("WRONG an event that is not there: ") + what);
        if (captures() && capture_mode != relaxed_mode)
            die(std::string("WRONG a capture was ended by ") + what);
        return body();
    });
}

} // namespace

unsigned in_flight() {
    unsigned count = 0;
    driver().events.any([&](const CUevent_ &each) {
        count += each.looks_left > 0;
        return false;
    });
    return count;
}

void end_launches() {
    driver().events.any([](CUevent_ &each) {
        each.looks_left = 0;
        return false;
    });
}

bool is_captured(cuda::Stream stream) {
    return !is_default(stream) && stream->captured;
}

} // namespace stand_in

using namespace stand_in;

cuda::Result cuEventCreate(cuda::Event *event, unsigned) {
    return in_context([&](CUctx &context, Lock &) {
        if (captures() && capture_mode != relaxed_mode)
            die("WRONG a capture was ended by cuEventCreate");
        *event = driver().events.add({&context});
        return cuda::success;
    });
}

cuda::Result cuEventRecord(cuda::Event event, cuda::Stream stream) {
    return with_event("cuEventRecord", event, [&] {
        const bool fits = is_default(stream)
                              ? event->context == current_context
                              : driver().streams.has(stream) && stream->context == event->context;
        if (!fits)
            return cuda::invalid_handle;
        if (is_captured(stream))
            die("WRONG an event of the library is in a graph of the program");
        event->looks_left = looks();
        return cuda::success;
    });
}

cuda::Result cuEventQuery(cuda::Event event) {
    return call(event_query, "cuEventQuery", current_context, event, [&] {
        return with_event("cuEventQuery", event, [&] {
            if (!event->looks_left)
                return cuda::success;
            event->looks_left--;
            return cuda::not_ready;
        });
    });
}

cuda::Result cuEventSynchronize(cuda::Event event) {
    return call(event_synchronize, "cuEventSynchronize", current_context, event, [&] {
        return with_event("cuEventSynchronize", event, [&] {
            event->looks_left = 0;
            return cuda::success;
        });
    });
}

cuda::Result cuEventDestroy_v2(cuda::Event event) {
    return with_event("cuEventDestroy_v2", event, [&] {
        driver().events.remove(event);
        return cuda::success;
    });
}

cuda::Result cuStreamBeginCapture_v2(cuda::Stream stream, int mode) {
    return in_context([&](CUctx &context, Lock &) {
        if (is_default(stream) || mode != global_mode)
            return cuda::capture_unsupported;
        if (!has_stream(stream, context))
            return cuda::invalid_handle;
        stream->captured = true;
        return cuda::success;
    });
}

cuda::Result cuStreamEndCapture(cuda::Stream stream, cuda::Graph *graph) {
    return in_context([&](CUctx &context, Lock &) {
        if (is_default(stream) || !has_stream(stream, context) || !stream->captured)
            return cuda::invalid_handle;
        stream->captured = false;
        *graph = driver().graphs.add({});
        return cuda::success;
    });
}

cuda::Result cuStreamIsCapturing(cuda::Stream stream, int *status) {
    return in_context([&](CUctx &context, Lock &) {
        if (!has_stream(stream, context))
            return cuda::invalid_handle;
        if (is_default(stream) && captures())
            return cuda::capture_implicit;
        *status = is_captured(stream);
        return cuda::success;
    });
}

cuda::Result cuThreadExchangeStreamCaptureMode(int *mode) {
    std::swap(*mode, capture_mode);
    return cuda::success;
}
