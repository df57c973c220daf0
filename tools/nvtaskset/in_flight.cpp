// SPDX-License-Identifier: MIT OR GPL-2.0
#include "in_flight.hpp"

#include <cstdlib>
#include <mutex>
#include <sched.h>
#include <time.h>

#include "lib/partition/gate.hpp"

namespace nvtaskset {
namespace {

/// A wait is this many looks whether a launch has ended: at first without pause, as kernels may be
/// short, then with pauses of 50 us, for 0.2 s at least. It is bounded by looks and not by time,
/// as a process may be stopped meanwhile.
constexpr int looks_max = 4000, looks_without_pause = 100;
constexpr timespec pause = {0, 50'000};

/// The program may capture a stream in a mode in which CUDA refuses to be asked about events, and
/// ends the capture if it is.
class Uncaptured {
  public:
    explicit Uncaptured(int (*exchange)(int *)) : exchange_(exchange) { exchange_(&mode_); }
    ~Uncaptured() { exchange_(&mode_); }
    Uncaptured(const Uncaptured &) = delete;
    Uncaptured &operator=(const Uncaptured &) = delete;

  private:
    int (*const exchange_)(int *);
    int mode_ = cuda::capture_relaxed;
};

} // namespace

InFlight::InFlight(const cuda::Library &cuda)
    : create_(cuda.find<cuda::Handle *, unsigned>("cuEventCreate")),
      record_(cuda.find<cuda::Handle, cuda::Handle>("cuEventRecord")),
      query_(cuda.find<cuda::Handle>("cuEventQuery")),
      is_capturing_(cuda.find<cuda::Handle, int *>("cuStreamIsCapturing")),
      exchange_mode_(cuda.find<int *>("cuThreadExchangeStreamCaptureMode")),
      get_current_(cuda.find<cuda::Handle *>("cuCtxGetCurrent")) {}

bool InFlight::usable() const {
    return create_ && record_ && query_ && is_capturing_ && exchange_mode_ && get_current_;
}

/// Of the default stream an error says that another one is captured, which would end.
bool InFlight::is_captured(cuda::Handle stream) const {
    int status = cuda::capture_none;
    return is_capturing_(stream, &status) || status != cuda::capture_none;
}

/// An error is an end, too: nothing is waited for then.
bool InFlight::has_ended(const Event &event) const {
    return query_(event.handle) != cuda::not_ready;
}

void InFlight::drop_oldest(Device &device) const {
    Event *const event = device.oldest;
    device.oldest = event->next;
    device.in_flight--;
    event->next = device.unused;
    device.unused = event;
}

/// Streams end in any order: @p all of them are asked where that decides.
void InFlight::reap(Gate &gate, Device &device, bool all) const {
    while (device.oldest && has_ended(*device.oldest)) {
        drop_oldest(device);
        gate.ended++;
    }
    if (!all || !device.oldest)
        return;
    for (Event **at = &device.oldest->next; Event *const event = *at;) {
        if (!has_ended(*event)) {
            at = &event->next;
            continue;
        }
        *at = event->next;
        device.in_flight--;
        event->next = device.unused;
        device.unused = event;
        gate.ended++;
    }
}

bool InFlight::enter(Gate &gate, int number, cuda::Handle stream) {
    std::uint64_t began = monotonic_us();
    if (!in_flight_limit(gate, began) || is_captured(stream))
        return false;
    const Uncaptured uncaptured(exchange_mode_);
    Device &device = devices_[number];
    for (int look = 0;; look++) {
        const std::uint64_t now = monotonic_us();
        const std::uint32_t limit = in_flight_limit(gate, now);
        {
            const std::lock_guard lock(mutex_);
            const auto is_full = [&] { return device.in_flight + device.entered >= limit; };
            reap(gate, device, limit && is_full());
            const bool overdue = limit && is_full() && look == looks_max;
            if (overdue) {
                gate.overdue++;
                // It counts no more, so that the next launch does not wait for it again.
                if (device.oldest)
                    drop_oldest(device);
            }
            if (!limit || !is_full() || overdue) {
                device.entered++;
                if (look)
                    gate.waited_ns += (now - began) * 1000;
                return true;
            }
        }
        if (look == 0)
            gate.waited++;
        if (look < looks_without_pause)
            sched_yield();
        else
            nanosleep(&pause, nullptr);
    }
}

InFlight::Event *InFlight::take_event(Device &device) const {
    cuda::Handle context = nullptr;
    if (get_current_(&context))
        return nullptr;
    for (Event **at = &device.unused; Event *const event = *at; at = &event->next)
        if (event->context == context) {
            *at = event->next;
            return event;
        }
    auto *const event = static_cast<Event *>(std::malloc(sizeof(Event)));
    if (!event)
        return nullptr;
    *event = {nullptr, nullptr, context};
    if (create_(&event->handle, cuda::event_without_time) == cuda::success)
        return event;
    std::free(event);
    return nullptr;
}

void InFlight::leave(Gate &gate, int number, cuda::Handle stream, bool launched) {
    const Uncaptured uncaptured(exchange_mode_);
    const std::lock_guard lock(mutex_);
    Device &device = devices_[number];
    device.entered--;
    if (!launched)
        return;
    gate.launched++;
    Event *const event = take_event(device);
    if (!event || record_(event->handle, stream)) {
        // A stream of another context than the current one, for example.
        gate.unlimited++;
        if (event) {
            event->next = device.unused;
            device.unused = event;
        }
        return;
    }
    event->next = nullptr;
    Event **last = &device.oldest;
    while (*last)
        last = &(*last)->next;
    *last = event;
    device.in_flight++;
}

void InFlight::end_context(cuda::Handle context) {
    const std::lock_guard lock(mutex_);
    for (Device &device : devices_)
        for (Event **list : {&device.oldest, &device.unused})
            for (Event **at = list; Event *const event = *at;) {
                if (event->context != context) {
                    at = &event->next;
                    continue;
                }
                *at = event->next;
                device.in_flight -= list == &device.oldest;
                std::free(event);
            }
}

void InFlight::end_contexts_of(int number) {
    if (number < 0 || number >= devices_max)
        return;
    const std::lock_guard lock(mutex_);
    Device &device = devices_[number];
    for (Event **list : {&device.oldest, &device.unused})
        while (Event *const event = *list) {
            *list = event->next;
            std::free(event);
        }
    device.in_flight = 0;
}

} // namespace nvtaskset
