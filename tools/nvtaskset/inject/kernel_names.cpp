// SPDX-License-Identifier: MIT OR GPL-2.0
#include "kernel_names.hpp"

#include <cstdio>
#include <cstring>
#include <mutex>

namespace nvtaskset {

// Source: cuda.h of CUDA 13.0. Drivers before CUDA 12.3 have neither function.
KernelNames::KernelNames(const cuda::Library &cuda)
    : function_name_(cuda.find<const char **, cuda::Handle>("cuFuncGetName")),
      kernel_name_(cuda.find<const char **, cuda::Handle>("cuKernelGetName")) {}

/// Returns the place of a handle, or the empty place where it belongs.
KernelNames::Place &KernelNames::place_of(cuda::Handle handle) {
    // The lowest bits of all handles are alike, because they are addresses.
    const std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(handle) * 0x9e37'79b9'7f4a'7c15;
    for (std::size_t at = mixed >> 32;; at++) {
        Place &place = places_[at % places];
        const cuda::Handle found = place.handle.load(std::memory_order_acquire);
        if (found == handle || !found)
            return place;
    }
}

/// Returns the number of a handle, or 0 if it has none of this epoch.
std::uint32_t KernelNames::find(cuda::Handle handle, std::uint32_t epoch) {
    const std::uint64_t found = place_of(handle).found.load(std::memory_order_acquire);
    return found >> 32 == epoch ? static_cast<std::uint32_t>(found) : 0;
}

/// Keeps a name for a handle. Returns its number, or 0 if there is no room.
std::uint32_t KernelNames::keep(cuda::Handle handle, std::uint32_t epoch, const char *name) {
    Place &place = place_of(handle);
    const auto before = static_cast<std::uint32_t>(place.found.load(std::memory_order_relaxed));
    std::uint32_t number = before && !std::strcmp(names_[before], name) ? before : 0;
    if (!number) {
        char *const copy = count_ < most ? strdup(name) : nullptr;
        if (!copy)
            return 0;
        number = ++count_;
        names_[number] = copy;
    }
    place.found.store(std::uint64_t{epoch} << 32 | number, std::memory_order_release);
    place.handle.store(handle, std::memory_order_release);
    return number;
}

std::uint32_t KernelNames::ask(cuda::Handle function) {
    const std::lock_guard lock(mutex_);
    const std::uint32_t epoch = epoch_;
    if (const std::uint32_t known = find(function, epoch))
        return known;
    const char *name = nullptr;
    const bool named = (function_name_ && !function_name_(&name, function) && name) ||
                       (kernel_name_ && !kernel_name_(&name, function) && name);
    char handle[32];
    std::snprintf(handle, sizeof(handle), "kernel %p", function);
    return keep(function, epoch, named ? name : handle);
}

std::uint32_t KernelNames::number(cuda::Handle function) {
    const std::uint32_t known = find(function, epoch_.load(std::memory_order_acquire));
    return known ? known : ask(function);
}

} // namespace nvtaskset
