// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Where a task's copies and kernels go: a GPU through CUDA, or nowhere, as long as they would take. */
#ifndef NVSTGM_DEVICE_HPP
#define NVSTGM_DEVICE_HPP

#include <ctime>
#include <memory>

#include "command.hpp"

namespace nvstgm {

/** By CLOCK_MONOTONIC. */
inline stgm::Time now_ns() {
    timespec at{};
    clock_gettime(CLOCK_MONOTONIC, &at);
    return stgm::Time{at.tv_sec} * 1'000'000'000 + at.tv_nsec;
}

/** Sleeps; a signal that is handled ends it. */
inline void sleep_until(stgm::Time ns) {
    const timespec at{ns / 1'000'000'000, ns % 1'000'000'000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
}

/** Errors are sentences. Lengths are in ns; what is asked for is prepared before. Work is named by its number. */
class Device {
  public:
    virtual ~Device() = default;
    virtual Outcome<void> open() = 0;
    /** Pinned memory to the GPU or back, as much as is copied in this time; nobody else may use the GPU meanwhile. */
    virtual Outcome<std::size_t> prepare_copy(bool to_device, stgm::Time length) = 0;
    /** A kernel of this length on @p tpcs, all of which it fills. */
    virtual Outcome<std::size_t> prepare_kernel(std::size_t tpcs, stgm::Time length) = 0;
    /** To its end, with the CPU. */
    virtual Outcome<void> copy(std::size_t work) = 0;
    virtual Outcome<void> launch(std::size_t work) = 0;
    /** Until it is complete: with the CPU if tasks are busy, else without. */
    virtual Outcome<void> complete() = 0;
};

std::unique_ptr<Device> cuda_device(bool busy);
/** No GPU: the work takes its time by the clock. */
std::unique_ptr<Device> clock_device(bool busy);

} // namespace nvstgm

#endif
