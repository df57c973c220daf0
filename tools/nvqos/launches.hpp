// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Limits how many launches processes that nvtaskset started have in flight on one GPU.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/partition/page.hpp"
#include "nvdebug/owner.hpp"

namespace nvqos {

class LaunchLimits {
  public:
    /// Launches of a process that are queued or running at most: so many that short kernels still
    /// follow each other. It was chosen and not measured.
    static constexpr std::uint32_t in_flight = 4;

    /// @param pci_address of the GPU
    /// @param patience a limit that is not renewed for so long ends by itself
    LaunchLimits(const std::string &pci_address, std::chrono::milliseconds patience);
    LaunchLimits(const LaunchLimits &) = delete;
    LaunchLimits &operator=(const LaunchLimits &) = delete;
    /// Ends all limits.
    ~LaunchLimits();

    /// Limits these processes, as far as nvtaskset started them, and no others. Is to be called
    /// again before the limits end.
    void keep(const std::vector<const nvdebug::Process *> &processes);
    bool limits(std::uint32_t pid) const;
    /// Of those that keep() was called for: whether the library in it is of an nvtaskset that did
    /// not limit launches.
    bool has_old_library(std::uint32_t pid) const;

  private:
    struct Seen {
        std::optional<std::uint64_t> started;            ///< of the process; the pid may be reused
        std::shared_ptr<nvtaskset::Page> page = nullptr; ///< of its task; nullptr: it has none
        bool old_library = false;
        bool wanted = false;
    };

    static Seen look_at(const nvdebug::Process &process);
    void end(const Seen &seen) const;

    const std::optional<nvtaskset::Uuid> gpu_;
    const std::chrono::microseconds length_;
    std::map<std::uint32_t, Seen> seen_; ///< by pid
    std::uint64_t renewed_at_us_ = 0;
};

} // namespace nvqos
