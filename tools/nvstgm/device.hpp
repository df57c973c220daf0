// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Where a task's copies and kernels go: a GPU through CUDA, or nowhere, as long as they
/// would take.
#pragma once

#include <functional>
#include <memory>

#include "command.hpp"
#include "lib/stgm/participant.hpp"

namespace nvstgm {

/// Errors are sentences. Lengths are in ns; what is asked for is prepared before. Work is named by
/// its number.
class Device {
  public:
    virtual ~Device() = default;
    virtual Outcome<void> open() = 0;
    /// Pinned memory to the GPU or back, as much as is copied in this time; nobody else may use the
    /// GPU meanwhile.
    virtual Outcome<std::size_t> prepare_copy(bool to_device, stgm::Time length) = 0;
    /// A kernel of this length on @p tpcs, all of which it fills.
    virtual Outcome<std::size_t> prepare_kernel(std::size_t tpcs, stgm::Time length) = 0;
    /// To its end, with the CPU.
    virtual Outcome<void> copy(std::size_t work) = 0;
    virtual Outcome<void> launch(std::size_t work) = 0;
    /// Until it is complete: with the CPU if tasks are busy, else without.
    virtual Outcome<void> complete() = 0;
};

/// What is called again and again while the CPU waits for the GPU.
using Look = std::function<void()>;

/// @param busy complete() keeps the CPU
std::unique_ptr<Device> cuda_device(bool busy, Look look);
/// No GPU: the work takes its time by the clock.
std::unique_ptr<Device> clock_device(bool busy, Look look);

} // namespace nvstgm
