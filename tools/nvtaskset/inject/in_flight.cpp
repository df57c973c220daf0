// SPDX-License-Identifier: MIT OR GPL-2.0
#include "in_flight.hpp"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <linux/futex.h>
#include <mutex>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <utility>

#include "lib/partition/gate.hpp"

namespace nvtaskset {
namespace {

/// A wait polls whether a launch has ended. For as long as most kernels take it does so without
/// pauses, because a pause leaves the GPU without work for about 0.1 ms. Then it makes pauses of 50
/// us, for 0.2 s at least. The number of pauses is bounded instead of the time, because the process
/// may be stopped during the wait.
constexpr std::uint64_t without_pause_us = 1000;
constexpr int pauses_max = 4000;
constexpr timespec pause = {0, 50'000};
/// If launches are only counted, an event follows about every 500 us of work. An event after each
/// launch would slow down launches of some microseconds.
constexpr std::uint64_t marks_apart_us = 500;
/// A gap of this length ends a request, if the library did not see the program wait for its
/// launches.
constexpr std::uint64_t longest_gap_us = 1000;

/// Wakes processes that wait for a change of the word.
void wake(std::atomic<std::uint32_t> &word) {
    syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

/// Makes queries of events possible while the program captures a stream. In some capture modes CUDA
/// would refuse them and end the capture.
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

/// Returns true if the stream is captured. On the default stream an error means that another stream
/// is captured, whose capture an event would end.
bool InFlight::is_captured(cuda::Handle stream) const {
    int status = cuda::capture_none;
    return is_capturing_(stream, &status) || status != cuda::capture_none;
}

/// Returns true if the launches before the event have ended. An error counts as an end, so that
/// no launch waits forever.
bool InFlight::has_ended(const Event &event) const {
    return query_(event.handle) != cuda::not_ready;
}

/// Removes the event at @p at from the events in flight, and returns its launches.
std::uint32_t InFlight::drop(Device &device, Event **at) const {
    Event *const event = *at;
    *at = event->next;
    if (device.last == &event->next)
        device.last = at;
    device.in_flight -= event->launches;
    event->next = device.unused;
    device.unused = event;
    return event->launches;
}

/// Removes events that have ended, oldest first. With @p all it does not stop at the first event
/// that has not ended, because streams end in any order.
void InFlight::reap(Gate &gate, Work &work, Device &device, bool all) const {
    std::uint32_t ended = 0;
    for (Event **at = &device.oldest; *at;)
        if (has_ended(**at))
            ended += drop(device, at);
        else if (all)
            at = &(*at)->next;
        else
            break;
    if (!ended)
        return;
    const std::uint64_t now = monotonic_us(), before = std::exchange(device.reaped_us, now);
    const std::uint64_t each_ns = std::min((now - before) * 1000 / ended, marks_apart_us * 1000);
    device.each_ns = (3 * device.each_ns + each_ns) / 4;
    work.ended_us = now;
    gate.ended += ended;
}

void InFlight::begin_request(Work &work, Device &device, std::uint64_t now) {
    device.has_request = true;
    device.began_us = now;
    requests_++;
    work.begun++;
    wake(work.begun);
}

void InFlight::end_request(Work &work, Device &device, std::uint64_t took_us) {
    device.has_request = false;
    requests_--;
    work.took_us[work.finished % Work::kept] =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(took_us, UINT32_MAX));
    work.finished++;
    wake(work.finished);
}

InFlight::Launch InFlight::enter(Gate &gate, Work &work, int number, cuda::Handle stream) {
    const std::uint64_t began = monotonic_us();
    const std::uint32_t first = leased(gate.lease, began);
    if (first == demand::count && !gate.limit)
        return {&gate, &work, number, stream, true};
    if ((!gate.limit && !first) || is_captured(stream))
        return {};
    const Uncaptured uncaptured(exchange_mode_);
    Device &device = devices_[number];
    bool waits = false;
    for (int pauses = 0;;) {
        const std::uint64_t now = monotonic_us();
        const std::uint32_t asked = leased(gate.lease, now), limit = in_flight_limit(gate, now);
        {
            const std::lock_guard lock(mutex_);
            const auto is_full = [&] {
                return asked == demand::hold ||
                       (limit && device.in_flight + device.entered >= limit);
            };
            // An event after the last launches lets the holder see in the counts when all have
            // ended.
            if (asked == demand::hold && device.unmarked)
                mark(gate, device, stream);
            reap(gate, work, device, is_full());
            // A hold needs no bound, because its lease ends by itself.
            const bool overdue = asked != demand::hold && is_full() && pauses >= pauses_max;
            if (overdue) {
                gate.overdue++;
                // The oldest event is dropped, so that the next launch does not wait for it again.
                if (device.oldest)
                    drop(device, &device.oldest);
            }
            if (!is_full() || overdue) {
                const bool is_idle = !device.in_flight && !device.entered;
                // The program may have waited for its launches in a way that the library cannot
                // see.
                if (device.has_request && is_idle && now - device.launched_us > longest_gap_us)
                    end_request(work, device, 0);
                if (asked == demand::watch && !device.has_request && is_idle)
                    begin_request(work, device, began);
                device.launched_us = now;
                device.entered++;
                if (waits)
                    gate.waited_ns += (now - began) * 1000;
                return {&gate, &work, number, stream, false};
            }
        }
        if (!std::exchange(waits, true))
            gate.waited++;
        if (now - began < without_pause_us) {
            sched_yield();
        } else {
            nanosleep(&pause, nullptr);
            pauses++;
        }
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
    *event = {nullptr, nullptr, context, 0};
    if (create_(&event->handle, cuda::event_without_time) == cuda::success)
        return event;
    std::free(event);
    return nullptr;
}

/// Puts an event behind the launches so far.
void InFlight::mark(Gate &gate, Device &device, cuda::Handle stream) const {
    const std::uint32_t launches = device.unmarked.exchange(0);
    gate.unmarked -= launches;
    device.marked_us = monotonic_us();
    Event *const event = take_event(device);
    if (!event || record_(event->handle, stream)) {
        // This happens for example with a stream of another context than the current one.
        gate.unlimited += launches;
        if (event) {
            event->next = device.unused;
            device.unused = event;
        }
        return;
    }
    event->next = nullptr;
    event->launches = launches;
    *device.last = event;
    device.last = &event->next;
    device.in_flight += launches;
    device.gate = &gate;
}

void InFlight::leave(const Launch &launch, bool launched) {
    Device &device = devices_[launch.device];
    if (launched)
        launch.gate->launched++;
    if (launch.is_counted) {
        launch.gate->unmarked += launched;
        const std::uint64_t unmarked = device.unmarked += launched;
        const bool is_due = monotonic_us() - device.marked_us >= marks_apart_us ||
                            unmarked * device.each_ns >= marks_apart_us * 1000;
        if (!is_due || is_captured(launch.stream))
            return;
    }
    const Uncaptured uncaptured(exchange_mode_);
    const std::lock_guard lock(mutex_);
    if (launch.is_counted) {
        reap(*launch.gate, *launch.work, device, false);
    } else {
        device.entered--;
        // The lock is held here because another thread's event may follow this launch, too.
        launch.gate->unmarked += launched;
        device.unmarked += launched;
    }
    if (device.unmarked)
        mark(*launch.gate, device, launch.stream);
    if (device.in_flight && !std::exchange(device.is_marked, true))
        marked_++;
}

void InFlight::ended(Gate &gate, Work &work, int number) {
    const Uncaptured uncaptured(exchange_mode_);
    const std::lock_guard lock(mutex_);
    Device &device = devices_[number];
    reap(gate, work, device, false);
    if (!device.in_flight && std::exchange(device.is_marked, false))
        marked_--;
    if (device.has_request && !device.in_flight && !device.entered)
        end_request(work, device, monotonic_us() - device.began_us);
}

/// Frees the events for which @p is_of_it is true, as their context ends.
template <typename Condition>
void InFlight::forget(Device &device, Condition is_of_it) const {
    for (Event **at = &device.oldest; Event *const event = *at;)
        if (is_of_it(*event))
            device.gate->ended += drop(device, at);
        else
            at = &event->next;
    for (Event **at = &device.unused; Event *const event = *at;)
        if (is_of_it(*event)) {
            *at = event->next;
            std::free(event);
        } else {
            at = &event->next;
        }
}

void InFlight::end_context(cuda::Handle context) {
    const std::lock_guard lock(mutex_);
    for (Device &device : devices_)
        forget(device, [&](const Event &event) { return event.context == context; });
}

void InFlight::end_contexts_of(int number) {
    if (number < 0 || number >= devices_max)
        return;
    const std::lock_guard lock(mutex_);
    forget(devices_[number], [](const Event &) { return true; });
}

} // namespace nvtaskset
