// SPDX-License-Identifier: MIT OR GPL-2.0
// What a program asks the GPU to do, and what came of it.
#pragma once

#include "base/time.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace nvmodel {

/// A kernel: blocks that are all alike.
struct Kernel {
    unsigned blocks = 1;
    unsigned threads = 32;    // of a block
    unsigned registers = 20;  // of a thread
    std::uint64_t shared = 0; // bytes a block
    Ns block = 0;             // how long a block executes
    /// Blocks end so long after they began, executing or not: they look at the GPU's clock, as
    /// those of the lab's kernels do. Otherwise `block` counts only while they execute.
    bool by_clock = false;
};

enum class Direction : std::uint8_t { to_gpu, to_host, on_gpu };

struct Copy {
    Direction direction = Direction::to_gpu;
    std::uint64_t bytes = 0;
};

/// From `begin` to `end`, in virtual time.
struct Interval {
    Ns begin = 0;
    Ns end = 0;
};

/// Where and when a block executed.
struct BlockRun {
    unsigned number = 0; // in its kernel
    unsigned sm = 0;     // the SM's true number
    unsigned told = 0;   // what the block reads as %smid
    std::vector<Interval> ran;
};

/// A part of a copy: bytes that arrived evenly in that time.
struct CopyProgress {
    Interval when;
    double bytes = 0;
};

struct Operation {
    std::size_t process = 0;
    std::size_t stream = 0;
    std::optional<Kernel> kernel; // or
    std::optional<Copy> copy;
    Ns submitted = 0;
    Ns began = never;      // when the GPU took it from its channel
    Ns dispatched = never; // when its last block was placed; of copies when the engine began it
    Ns ended = never;
    std::vector<BlockRun> blocks; // in the order in which they were placed
    std::vector<CopyProgress> progress;

    [[nodiscard]] bool done() const { return ended != never; }
};

} // namespace nvmodel
