// SPDX-License-Identifier: MIT OR GPL-2.0
// The parts that the stand-in's sources share: its record of changes, and pointers in requests.
#pragma once

#include "stand_in.hpp"

#include <atomic>
#include <cstdint>

namespace driver_test {

template <typename T>
T *at(std::uint64_t pointer) {
    return reinterpret_cast<T *>(static_cast<std::uintptr_t>(pointer));
}

struct StandIn::Shared {
    static constexpr std::uint32_t most = 1 << 14;
    std::atomic<std::uint32_t> count;
    std::atomic<std::uint64_t> ioctls; // of forked processes
    std::atomic_flag busy;             // several processes may record changes at once
    std::atomic<std::uint64_t> asked, refuse_begin, refuse_end, refused;
    std::atomic<std::uint32_t> refuse_status;
    std::atomic<bool> refuses_what_it_does;
    Change changes[most];
};

} // namespace driver_test
