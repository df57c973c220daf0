// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A task set as the analyses see it: sums and maxima of each task at its number of SMs.
#pragma once

#include <vector>

#include "taskset.hpp"

namespace stgm {

inline constexpr std::uint32_t no_core = ~std::uint32_t{0};

/// A task in the paper's letters. What depends on the number of SMs is that of set_sms().
struct Numbers {
    Time period, deadline;        ///< T, D
    std::size_t rank;             ///< 0: the highest priority of the set
    std::uint32_t core = no_core; ///< no_core: not known yet, none of the others' cores
    Time cpu = 0;                 ///< C
    Time copies = 0, kernels = 0; ///< G^m; sum of e(N)
    Time gpu_segments = 0;        ///< η
    Time cpu_segments = 0;        ///< θ, those of length 0 too
    Time phases = 0;              ///< times that a job comes to the CPU at its base priority
    Time longest_copy = 0;        ///< m*: max over segments of max(mhd, mdh)
    Time longest_copies = 0;      ///< ms: max over segments of mhd + mdh
    Time longest_kernel = 0;      ///< e*
    Time longest_segment = 0;     ///< max over segments of mhd + e(N) + mdh
    std::vector<const Segment *> gpu = {};
    std::size_t sm_count = 0;            ///< N
    std::vector<std::uint32_t> sms = {}; ///< S, ascending

    bool uses_gpu() const { return gpu_segments > 0; }
    Time segments() const { return add(copies, kernels); } ///< G
    bool above(const Numbers &other) const { return rank < other.rank; }
};

/// Refers to the set, which must outlive it.
class Model {
  public:
    /// Cores and SMs as in the set; a task that has no SMs there counts as if it had all, which it
    /// shares with every other.
    explicit Model(const TaskSet &set);

    std::size_t size() const { return tasks_.size(); }
    const Numbers &operator[](std::size_t task) const { return tasks_[task]; }
    const std::vector<Numbers> &tasks() const { return tasks_; }
    std::uint32_t cores() const { return cores_; }
    std::uint32_t sms() const { return sms_; }

    void set_core(std::size_t task, std::uint32_t core) { tasks_[task].core = core; }
    void set_sms(std::size_t task, std::vector<std::uint32_t> sms);
    /// G(N) of the task.
    Time segments_on(std::size_t task, std::size_t sms) const;

  private:
    std::vector<Numbers> tasks_;
    std::uint32_t cores_, sms_;
};

} // namespace stgm
