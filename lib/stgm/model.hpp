// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A task set as the analyses use it: sums and maxima of each task at its number of SMs.
#pragma once

#include <vector>

#include "taskset.hpp"

namespace stgm {

inline constexpr std::uint32_t no_core = ~std::uint32_t{0};

/// A task in the letters of docs/stgm.md. The times of kernels are for the SMs that the task has.
struct Numbers {
    Time period, deadline;        ///< T, D
    std::size_t rank;             ///< 0: the highest priority of the set
    std::uint32_t core = no_core; ///< no_core: not allocated yet, and no other task's core
    Time cpu = 0;                 ///< C
    Time copies = 0, kernels = 0; ///< G^m; sum of e(N)
    Time gpu_segments = 0;        ///< η
    Time cpu_segments = 0;        ///< θ, which counts segments of length 0, too
    Time phases = 0;              ///< how often a job needs the CPU at its base priority
    Time longest_copy = 0;        ///< m*: max over segments of max(mhd, mdh)
    Time longest_copies = 0;      ///< ms: max over segments of mhd + mdh
    Time longest_kernel = 0;      ///< e*
    Time longest_segment = 0;     ///< max over segments of mhd + e(N) + mdh
    std::vector<const Segment *> gpu = {};
    std::size_t sm_count = 0;            ///< N
    std::vector<std::uint32_t> sms = {}; ///< S, ascending

    bool uses_gpu() const { return gpu_segments > 0; }
    Time segments() const { return add(copies, kernels); } ///< returns G
    bool above(const Numbers &other) const { return rank < other.rank; }
};

/// The numbers of all tasks of a set. The set must outlive the model, which refers to it.
class Model {
  public:
    /// Takes cores and SMs from the set. A task without SMs there counts as if it had all SMs.
    explicit Model(const TaskSet &set);

    std::size_t size() const { return tasks_.size(); }
    const Numbers &operator[](std::size_t task) const { return tasks_[task]; }
    const std::vector<Numbers> &tasks() const { return tasks_; }
    std::uint32_t cores() const { return cores_; }
    std::uint32_t sms() const { return sms_; }

    void set_core(std::size_t task, std::uint32_t core) { tasks_[task].core = core; }
    void set_sms(std::size_t task, std::vector<std::uint32_t> sms);
    /// Returns G(N), the sum of the task's GPU segments on @p sms SMs.
    Time segments_on(std::size_t task, std::size_t sms) const;

  private:
    std::vector<Numbers> tasks_;
    std::uint32_t cores_, sms_;
};

} // namespace stgm
