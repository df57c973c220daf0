// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Which tasks can delay the kernels of which other tasks. Kernels start in the order of
/// their launches, so a kernel waits for the kernels of tasks that share an SM with its task, and
/// also for kernels that these wait for: for its whole connected component.
#pragma once

#include "model.hpp"

namespace stgm {

class Sharing {
  public:
    explicit Sharing(const Model &model);

    bool shares(std::size_t task) const { return direct_[task] > 0; }
    /// Returns the sum of the longest kernels of the tasks that share an SM with the task (eq. 5 as
    /// printed).
    Time direct(std::size_t task) const;
    /// Returns the sum of the longest kernels of all other tasks of the component (eq. 5, mended).
    Time component(std::size_t task) const;
    /// Returns the sum of the longest kernels on the heaviest simple path from the task, or
    /// component() if the path takes too long to find.
    Time path(std::size_t task) const;
    /// Returns the sum of the longest kernel of the component on each other core.
    Time one_per_core(std::size_t task) const;

  private:
    bool linked(std::size_t a, std::size_t b) const;

    const Model &model_;
    std::vector<std::size_t> users_;  ///< tasks with GPU segments
    std::vector<std::size_t> root_;   ///< by task, the task that names its component
    std::vector<std::size_t> direct_; ///< by task, how many of its SMs are shared
    std::vector<std::vector<std::size_t>> of_sm_;
    static constexpr std::size_t bits_of_word = 64;
    std::size_t words_;
    std::vector<std::uint64_t> masks_; ///< the SMs of each task, in words_ words for each
};

} // namespace stgm
