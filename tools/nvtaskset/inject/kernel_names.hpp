// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Numbers and names of the kernels that a process launches.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "lib/partition/cuda.hpp"
#include "table.hpp"

namespace nvtaskset {

/// The names of a process' kernels. Several threads may use it at the same time. The first launch
/// of a kernel asks CUDA for its name under a lock; later launches find its number without one.
///
/// A handle may mean another kernel after a module was unloaded. So each number is of an epoch,
/// which unloaded() ends: names are asked for again, and a kernel that still has its name keeps its
/// number.
class KernelNames {
  public:
    /// The most names. Launches of further kernels have the number 0.
    static constexpr std::uint32_t most = 16'383;

    explicit KernelNames(const cuda::Library &cuda);

    /// Returns the number of a kernel's name. @param function a CUfunction or a CUkernel
    std::uint32_t number(cuda::Handle function);
    /// Is called before modules are unloaded.
    void unloaded() { epoch_++; }

    /// Returns the name of a number that this object has returned; it stays valid.
    const char *name(std::uint32_t number) const { return names_[number]; }

  private:
    /// Each handle in the table has a number of its own, so the table is at most half full.
    static constexpr std::size_t places = std::size_t{2} * (most + 1);

    struct Place {
        std::atomic<cuda::Handle> handle;
        std::atomic<std::uint64_t> found; ///< the epoch, and the number below it; 0: none
    };

    std::uint32_t find(cuda::Handle handle, std::uint32_t epoch);
    std::uint32_t keep(cuda::Handle handle, std::uint32_t epoch, const char *name);
    Place &place_of(cuda::Handle handle);
    std::uint32_t ask(cuda::Handle function);

    int (*const function_name_)(const char **name, cuda::Handle function);
    int (*const kernel_name_)(const char **name, cuda::Handle kernel);
    Mutex mutex_;
    std::atomic<std::uint32_t> epoch_{1};
    std::uint32_t count_ = 0;
    std::array<Place, places> places_{};
    std::array<char *, most + 1> names_{};
};

} // namespace nvtaskset
