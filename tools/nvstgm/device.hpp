// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A device for a task's copies and kernels: a GPU through CUDA, or the clock, with which
/// they only take their time.
#pragma once

#include <functional>
#include <memory>

#include "command.hpp"
#include "lib/stgm/participant.hpp"

namespace nvstgm {

/// Prepares copies and kernels of given lengths, in ns, and runs them by their numbers. Errors are
/// sentences.
class Device {
  public:
    virtual ~Device() = default;
    virtual Outcome<void> open() = 0;
    /// Prepares a copy of pinned memory to the GPU or back, of a size that takes this time, and
    /// returns its number. No other task may use the GPU during the call.
    virtual Outcome<std::size_t> prepare_copy(bool to_device, stgm::Time length) = 0;
    /// Prepares a kernel of this length that fills @p tpcs TPCs, and returns its number.
    virtual Outcome<std::size_t> prepare_kernel(std::size_t tpcs, stgm::Time length) = 0;
    /// Copies, and keeps the CPU until the copy is complete.
    virtual Outcome<void> copy(std::size_t work) = 0;
    virtual Outcome<void> launch(std::size_t work) = 0;
    /// Waits until the kernel is complete, and keeps the CPU meanwhile if tasks are busy.
    virtual Outcome<void> complete() = 0;
};

/// A function that the device calls again and again while it polls.
using Look = std::function<void()>;

/// Makes a device that uses the first GPU that CUDA shows.
/// @param busy complete() keeps the CPU
std::unique_ptr<Device> cuda_device(bool busy, Look look);
/// Makes a device without a GPU: its work takes its time by the clock.
std::unique_ptr<Device> clock_device(bool busy, Look look);

} // namespace nvstgm
