// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The launches in flight of a process. An event after each launch shows when it has ended. A
/// launch beyond the limit waits until an earlier launch has ended. While launches are held, all
/// new launches wait.
#pragma once

#include <atomic>
#include <cstdint>

#include "lib/partition/cuda.hpp"
#include "lib/partition/state.hpp"
#include "table.hpp"

namespace nvtaskset {

/// The launches in flight. Several threads may use it at the same time. Each call has to be within
/// an InternalCall, because it calls CUDA.
class InFlight {
  public:
    static constexpr int devices_max = 32;

    explicit InFlight(const cuda::Library &cuda);
    /// Returns false if this CUDA lacks a function that is needed here.
    bool usable() const;

    /// A launch that is being made, between enter() and leave().
    struct Launch {
        Gate *gate = nullptr; ///< nullptr: there is no limit or demand for the launch
        Work *work = nullptr;
        int device = 0;
        cuda::Handle stream = nullptr;
        bool is_counted = false; ///< the launch is only counted
    };

    /// Is called before a launch in the current context, which is on @p device. Waits while
    /// launches are held, and while as many are in flight as the gate permits. The second wait is
    /// bounded, because launches may wait for each other in ways that are unknown here. If it
    /// returns a gate, leave() has to follow.
    [[nodiscard]] Launch enter(Gate &gate, Work &work, int device, cuda::Handle stream);
    /// Is called after the launch.
    /// @param launched the launch did not fail
    void leave(const Launch &launch, bool launched);
    /// Returns true if launches are in flight or a request is in progress on some GPU, so that a
    /// call of ended() may have an effect.
    bool may_end() const { return requests_ || marked_; }
    /// Is called after the program has waited for some of its launches on a GPU.
    void ended(Gate &gate, Work &work, int device);

    /// Forgets the events of a context that ends. Launches before them count as ended.
    void end_context(cuda::Handle context);
    void end_contexts_of(int device);

  private:
    struct Event {
        Event *next;
        cuda::Handle handle, context;
        std::uint32_t launches; ///< launches before the event, which in one stream end before it
    };
    struct Device {
        Event *oldest = nullptr; ///< the oldest event in flight
        Event **last = &oldest;  ///< the link that the next event is put into
        Event *unused = nullptr;
        std::uint32_t in_flight = 0;
        Gate *gate = nullptr;      ///< the gate of the events; nullptr: there was none so far
        std::uint32_t entered = 0; ///< launches between enter() and leave()
        std::atomic<std::uint32_t> unmarked{0};  ///< launches since the newest event
        std::atomic<std::uint64_t> marked_us{0}; ///< time of the newest event
        std::atomic<std::uint64_t> each_ns{0};   ///< recent time between the ends of launches
        std::uint64_t reaped_us = 0;             ///< when an event was last seen to have ended
        bool is_marked = false;                  ///< launches may be in flight
        bool has_request = false;
        std::uint64_t began_us = 0, launched_us = 0; ///< begin and last launch of the request
    };

    bool is_captured(cuda::Handle stream) const;
    bool has_ended(const Event &event) const;
    void reap(Gate &gate, Work &work, Device &device, bool all) const;
    std::uint32_t drop(Device &device, Event **at) const;
    void mark(Gate &gate, Device &device, cuda::Handle stream) const;
    void begin_request(Work &work, Device &device, std::uint64_t now);
    void end_request(Work &work, Device &device, std::uint64_t took_us);
    Event *take_event(Device &device) const;
    template <typename Condition>
    void forget(Device &device, Condition is_of_it) const;

    Mutex mutex_;
    Device devices_[devices_max];
    std::atomic<int> requests_{0}; ///< the number of GPUs with Device::has_request
    std::atomic<int> marked_{0};   ///< the number of GPUs with Device::is_marked
    int (*const create_)(cuda::Handle *event, unsigned flags);
    int (*const record_)(cuda::Handle event, cuda::Handle stream);
    int (*const query_)(cuda::Handle event);
    int (*const is_capturing_)(cuda::Handle stream, int *status);
    int (*const exchange_mode_)(int *mode);
    int (*const get_current_)(cuda::Handle *context);
};

} // namespace nvtaskset
