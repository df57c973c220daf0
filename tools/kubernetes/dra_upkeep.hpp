// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Keeps the objects of the API server up to date: the ResourceSlice and the claims' status.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "dra_report.hpp"
#include "dra_slice.hpp"

namespace nvdebug::kubernetes {

/// Works in a thread of its own, because the API server may be slow or away. kubelet's calls do not
/// wait for it.
class DraUpkeep {
  public:
    DraUpkeep(const ApiServer &api, Claims &claims, SliceSettings slice, ReportSettings report);
    /// Waits for the thread, which may be waiting for an answer.
    ~DraUpkeep();
    DraUpkeep(const DraUpkeep &) = delete;
    DraUpkeep &operator=(const DraUpkeep &) = delete;

    /// Takes what is known of nvqos. Any thread may call it.
    void take(const NvqosView &view);
    /// Makes the thread compare all objects soon. Any thread may call it.
    void wake();
    /// Ends the thread and removes the slice, so that no pod is placed on this node any more.
    void remove_slice();

  private:
    void end();
    void work();
    [[nodiscard]] ApiOutcome<void> work_once(const NvqosView &view);
    [[nodiscard]] ApiOutcome<void> find_gpus(const NvqosView &view);

    Claims &claims_;
    const SliceSettings settings_;
    SlicePublisher publisher_;
    ClaimReporter reporter_;
    // Of the thread alone:
    std::vector<KeptGpu> known_; ///< the GPUs that nvqos has listed last
    TaintTimes tainted_since_;
    bool has_looked_for_left_ = false, has_removed_stale_ = false, has_forgotten_ = false;

    std::mutex mutex_; ///< protects the members below
    std::condition_variable changed_;
    NvqosView view_;
    bool is_changed_ = true, ending_ = false;
    std::thread thread_; // the last member, because it uses the others
};

} // namespace nvdebug::kubernetes
