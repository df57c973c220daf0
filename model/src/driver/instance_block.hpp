// SPDX-License-Identifier: MIT OR GPL-2.0
// The words of a channel's instance block, as a driver writes them.
#pragma once

#include "board/board.hpp"
#include "memory/aperture.hpp"
#include "mmu/format.hpp"
#include "regs/ramin.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace nvmodel {

/// An address space as an instance block refers to it.
struct InstanceSpace {
    PhysicalAddress page_directory;
    mmu::Format format;
    std::uint32_t pasid = 0;
    bool ats = false;

    /// Drivers keep page directories in system memory out of the GPU's cache.
    [[nodiscard]] bool is_volatile() const { return page_directory.aperture != Aperture::video; }
};

struct InstanceBlock {
    unsigned channel = 0;
    unsigned engine_id = 0;
    bool copy_engine = false;
    unsigned subcontext = 0;
    Timeslice timeslice;
    PhysicalAddress userd;
    std::vector<InstanceSpace> spaces;           // by subcontext
    std::optional<std::uint64_t> engine_context; // virtual address; none on copy engines
    bool privileged = false;
    std::uint64_t pushbuffer_ring = 0; // virtual address of GP_BASE
    std::uint32_t gp_get = 0;
    std::uint32_t gp_put = 0;

    /// The address space of the channel's own subcontext, which its other engines use as well.
    [[nodiscard]] const InstanceSpace &space() const { return spaces.at(subcontext); }
};

using InstanceWords = std::array<std::uint32_t, regs::ramin::words>;

InstanceWords encode_instance(const Generation &generation, const InstanceBlock &block);

/// Encodes the instance block of BAR1 or BAR2, which has only an address space.
InstanceWords encode_bar_instance(const Generation &generation, const InstanceSpace &space,
                                  std::uint64_t bar_size);

/// The TARGET in RAMFC; empty where its place is not public.
std::optional<unsigned> ramfc_target(const Generation &generation, const InstanceBlock &block);

} // namespace nvmodel
