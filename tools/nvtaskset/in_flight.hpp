// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The launches in flight of a process: an event after each shows when it has ended, and
/// those beyond a limit wait for an earlier one.
#pragma once

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

    /// Before a launch in the current context, of @p device. Waits while as many launches are in
    /// flight as the gate permits, and no longer than a bound: launches may wait for each other in
    /// a way that is not known here. True: leave() has to follow.
    bool enter(Gate &gate, int device, cuda::Handle stream);
    /// After it. @p launched: it did not fail
    void leave(Gate &gate, int device, cuda::Handle stream, bool launched);

    /// Events end with their context.
    void end_context(cuda::Handle context);
    void end_contexts_of(int device);

  private:
    struct Event {
        Event *next;
        cuda::Handle handle, context;
    };
    struct Device {
        Event *oldest = nullptr; ///< of those in flight
        Event *unused = nullptr;
        std::uint32_t in_flight = 0;
        std::uint32_t entered = 0; ///< launches that are being made
    };

    bool is_captured(cuda::Handle stream) const;
    bool has_ended(const Event &event) const;
    void reap(Gate &gate, Device &device, bool all) const;
    void drop_oldest(Device &device) const;
    Event *take_event(Device &device) const;

    Mutex mutex_;
    Device devices_[devices_max];
    int (*const create_)(cuda::Handle *event, unsigned flags);
    int (*const record_)(cuda::Handle event, cuda::Handle stream);
    int (*const query_)(cuda::Handle event);
    int (*const is_capturing_)(cuda::Handle stream, int *status);
    int (*const exchange_mode_)(int *mode);
    int (*const get_current_)(cuda::Handle *context);
};

} // namespace nvtaskset
