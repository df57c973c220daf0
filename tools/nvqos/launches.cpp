// SPDX-License-Identifier: MIT OR GPL-2.0
#include "launch_limits.hpp"

#include <algorithm>

#include "lib/partition/gate.hpp"
#include "lib/partition/gpus.hpp"
#include "lib/partition/tasks.hpp"

namespace nvqos {

LaunchLimits::LaunchLimits(const std::string &pci_address, std::chrono::milliseconds patience)
    : gpu_(nvtaskset::uuid_of(pci_address)),
      length_(std::min<std::chrono::microseconds>(
          patience, std::chrono::microseconds(nvtaskset::lease_max_us))) {}

LaunchLimits::~LaunchLimits() {
    for (const auto &[pid, seen] : seen_)
        end(seen);
}

void LaunchLimits::end(const Seen &seen) const {
    if (seen.page)
        seen.page->lease_limit(*gpu_, 0, 0);
}

LaunchLimits::Seen LaunchLimits::look_at(const nvdebug::Process &process) {
    Seen seen{process.started};
    auto page = nvtaskset::page_of(static_cast<pid_t>(process.pid), nvtaskset::Access::change);
    if (!page)
        return seen;
    const nvtaskset::State &state = page->state();
    seen.old_library = state.limiting < state.attached;
    if (!seen.old_library)
        seen.page = std::move(page);
    return seen;
}

void LaunchLimits::keep(const std::vector<const nvdebug::Process *> &processes) {
    if (!gpu_)
        return;
    bool changed = false;
    for (auto &[pid, seen] : seen_)
        seen.wanted = false;
    for (const nvdebug::Process *const process : processes) {
        auto at = seen_.find(process->pid);
        if (at != seen_.end() && at->second.started != process->started) {
            end(at->second);
            seen_.erase(at);
            at = seen_.end();
        }
        if (at == seen_.end()) {
            at = seen_.emplace(process->pid, look_at(*process)).first;
            changed = true;
        }
        at->second.wanted = true;
    }
    for (const auto &[pid, seen] : seen_)
        if (!seen.wanted) {
            end(seen);
            changed = true;
        }
    std::erase_if(seen_, [](const auto &one) { return !one.second.wanted; });
    // Processes of a task share a page: those that stay are limited again.
    const std::uint64_t now = nvtaskset::monotonic_us();
    const auto length = static_cast<std::uint64_t>(length_.count());
    if (!changed && now - renewed_at_us_ < length / 4)
        return;
    renewed_at_us_ = now;
    for (auto &[pid, seen] : seen_)
        // All slots of its page have other GPUs.
        if (seen.page && !seen.page->lease_limit(*gpu_, in_flight, now + length))
            seen.page.reset();
}

bool LaunchLimits::limits(std::uint32_t pid) const {
    const auto at = seen_.find(pid);
    return at != seen_.end() && at->second.page;
}

bool LaunchLimits::has_old_library(std::uint32_t pid) const {
    const auto at = seen_.find(pid);
    return at != seen_.end() && at->second.old_library;
}

} // namespace nvqos
