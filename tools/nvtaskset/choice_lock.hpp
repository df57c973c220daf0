// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The lock under which TPCs are chosen, so that two tasks do not take the same ones.
#pragma once

#include "lib/partition/outcome.hpp"

namespace nvtaskset {

/// A lock for each user, which is held as long as the object lives. It is for the choice alone, and
/// not held while nvtaskset waits for a GPU or another program.
class ChoiceLock {
  public:
    /// Fails if another process holds it for ten seconds.
    [[nodiscard]] static Outcome<ChoiceLock> take();
    ChoiceLock(ChoiceLock &&other) noexcept;
    ChoiceLock(const ChoiceLock &) = delete;
    ChoiceLock &operator=(const ChoiceLock &) = delete;
    ~ChoiceLock();

  private:
    explicit ChoiceLock(int descriptor) : descriptor_(descriptor) {}

    int descriptor_;
};

} // namespace nvtaskset
