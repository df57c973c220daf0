// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The launches in flight of a process: an event after each shows when it has ended. Those
/// beyond a limit wait for an earlier one, and all of them while launches are held.
#pragma once

#include <atomic>
#include <cstdint>

#include "lib/partition/cuda.hpp"
#include "lib/partition/state.hpp"
#include "table.hpp"

namespace nvtaskset {

/// May be used by several threads. Each call is to be InternalCall, as it calls CUDA.
class InFlight {
  public:
    static constexpr int devices_max = 32;

    explicit InFlight(const cuda::Library &cuda);
    /// False: this CUDA lacks a function that it takes.
    bool usable() const;

    /// A launch that is being made, between enter() and leave().
    struct Launch {
        Gate *gate = nullptr; ///< nullptr: nothing is asked of it
        Work *work = nullptr;
        int device = 0;
        cuda::Handle stream = nullptr;
        bool is_counted = false; ///< and nothing else
    };

    /// Before a launch in the current context, of @p device. Waits while launches are held, and
    /// while as many are in flight as the gate permits; the latter no longer than a bound, as
    /// launches may wait for each other in a way that is not known here. If it returns a gate,
    /// leave() has to follow.
    [[nodiscard]] Launch enter(Gate &gate, Work &work, int device, cuda::Handle stream);
    /// After it. @p launched: it did not fail
    void leave(const Launch &launch, bool launched);
    /// Is something in flight on some GPU, or a request in progress? Then ended() is worth a call.
    bool may_end() const { return requests_ || marked_; }
    /// After the program waited for some of its launches on a GPU.
    void ended(Gate &gate, Work &work, int device);

    /// Events end with their context.
    void end_context(cuda::Handle context);
    void end_contexts_of(int device);

  private:
    struct Event {
        Event *next;
        cuda::Handle handle, context;
        std::uint32_t launches; ///< that end with it at the latest, if they are in one stream
    };
    struct Device {
        Event *oldest = nullptr; ///< of those in flight
        Event **last = &oldest;  ///< where the next one goes
        Event *unused = nullptr;
        std::uint32_t in_flight = 0;
        std::uint32_t entered = 0;               ///< launches that are being made
        std::atomic<std::uint32_t> unmarked{0};  ///< launches since the newest event
        std::atomic<std::uint64_t> marked_us{0}; ///< when that was made
        std::atomic<std::uint64_t> each_ns{0};   ///< from the end of a launch to the next, lately
        std::uint64_t reaped_us = 0;             ///< when one was seen to have ended
        bool is_marked = false;                  ///< some may be in flight
        bool has_request = false;
        std::uint64_t began_us = 0, launched_us = 0; ///< the request; its last launch
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
    std::atomic<int> requests_{0}; ///< GPUs that have one
    std::atomic<int> marked_{0};   ///< GPUs with Device::is_marked
    int (*const create_)(cuda::Handle *event, unsigned flags);
    int (*const record_)(cuda::Handle event, cuda::Handle stream);
    int (*const query_)(cuda::Handle event);
    int (*const is_capturing_)(cuda::Handle stream, int *status);
    int (*const exchange_mode_)(int *mode);
    int (*const get_current_)(cuda::Handle *context);
};

} // namespace nvtaskset
