// SPDX-License-Identifier: MIT OR GPL-2.0
// An operation that a program asks the GPU to do, and its result.
#pragma once

#include "base/time.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace nvmodel {

/// A kernel whose blocks are all alike.
struct Kernel {
    unsigned blocks = 1;
    unsigned threads = 32;    // threads of a block
    unsigned registers = 20;  // registers of a thread
    std::uint64_t shared = 0; // bytes of a block
    Ns block = 0;             // duration of a block
    /// Blocks end this time after they began, executing or not: they look at the GPU's clock, as
    /// the blocks of the lab's kernels do. Otherwise `block` counts only while they execute.
    bool by_clock = false;
};

enum class Direction : std::uint8_t { to_gpu, to_host, on_gpu };

struct Copy {
    Direction direction = Direction::to_gpu;
    std::uint64_t bytes = 0;
};

/// A span of virtual time from `begin` to `end`.
struct Interval {
    Ns begin = 0;
    Ns end = 0;
};

/// The execution of a block, with its SM and times.
struct BlockRun {
    unsigned number = 0; // number in the kernel
    unsigned sm = 0;     // the SM's true number
    unsigned told = 0;   // the number that the block reads as %smid
    std::vector<Interval> ran;
};

/// A part of a copy: bytes that arrived evenly in a span of time.
struct CopyProgress {
    Interval when;
    double bytes = 0;
};

struct Operation {
    std::size_t process = 0;
    std::size_t stream = 0;
    std::optional<Kernel> kernel; // either this or a copy
    std::optional<Copy> copy;
    Ns submitted = 0;
    Ns began = never; // when the GPU took it from its channel
    // The time when its last block was placed, or when the engine began the copy.
    Ns dispatched = never;
    Ns ended = never;
    std::vector<BlockRun> blocks; // in the order in which they were placed
    std::vector<CopyProgress> progress;

    [[nodiscard]] bool done() const { return ended != never; }
};

} // namespace nvmodel
