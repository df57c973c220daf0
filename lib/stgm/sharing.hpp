// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Which tasks' kernels can delay which: tasks that share an SM, and those that share one
/// with them, and so on, since kernels start in the order of their launches.
#pragma once

#include "model.hpp"

namespace stgm {

class Sharing {
  public:
    explicit Sharing(const Model &model);

    bool shares(std::size_t task) const { return direct_[task] > 0; }
    /// For one kernel of the task: the longest kernels of those that share an SM with it (eq. 5 as
    /// printed).
    Time direct(std::size_t task) const;
    /// … of all others of its component.
    Time component(std::size_t task) const;
    /// … of those on the heaviest simple path from it, or of component() where that takes too long
    /// to find.
    Time path(std::size_t task) const;
    /// … of one on each other core, the longest there, of its component.
    Time one_per_core(std::size_t task) const;

  private:
    bool linked(std::size_t a, std::size_t b) const;

    const Model &model_;
    std::vector<std::size_t> users_;  ///< tasks with GPU segments
    std::vector<std::size_t> root_;   ///< of a task: names its component
    std::vector<std::size_t> direct_; ///< how many share an SM with it
    std::vector<std::vector<std::size_t>> of_sm_;
    static constexpr std::size_t bits_of_word = 64;
    std::size_t words_;
    std::vector<std::uint64_t> masks_; ///< SMs of each task, words_ of each
};

} // namespace stgm
