// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The plan of all GPUs of this machine, which the threads of the GPUs make together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "lib/qos/plan.hpp"

namespace nvqos {

/// Has the last state of each GPU, and plans all GPUs whenever the epoch of one ends (qos::plan()).
/// Called by several threads. The lock is held for the arithmetic alone, in which nothing waits for
/// a GPU.
class MachinePlan {
  public:
    /// Takes the state of a GPU, and returns what the plan of all GPUs has for it.
    qos::Plan decide(qos::GpuView view) {
        const std::scoped_lock held(lock_);
        auto at = std::ranges::find(views_, view.gpu, &qos::GpuView::gpu);
        if (at == views_.end())
            at = views_.insert(at, std::move(view));
        else
            *at = std::move(view);
        return std::move(qos::plan(views_)[static_cast<std::size_t>(at - views_.begin())]);
    }
    /// Forgets a GPU on which goals are kept no longer.
    void forget(std::uint32_t gpu) {
        const std::scoped_lock held(lock_);
        std::erase_if(views_, [&](const qos::GpuView &view) { return view.gpu == gpu; });
    }
    /// Returns how many GPUs are planned for.
    std::size_t size() const {
        const std::scoped_lock held(lock_);
        return views_.size();
    }

  private:
    mutable std::mutex lock_;
    std::vector<qos::GpuView> views_; ///< the last state of each GPU
};

} // namespace nvqos
