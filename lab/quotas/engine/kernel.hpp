// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file A kernel: the instructions of a warp, and the needs of a block. */
#ifndef NVDEBUG_LAB_QUOTAS_ENGINE_KERNEL_HPP
#define NVDEBUG_LAB_QUOTAS_ENGINE_KERNEL_HPP

#include <string>
#include <vector>

#include "shape.hpp"

namespace engine {

/** A warp instruction, and the condition for the warp's next instruction. */
struct Step {
    int lanes = 32;       ///< active lanes, 1 to 32
    int wait = 1;         ///< cycles until the next instruction; 1: it does not depend on this one
    int lines = 0;        ///< lines of memory; unless posted, the next instruction waits for them
    int far = 256;        ///< so many of 256 lines are in memory, the others in the L2 cache
    bool posted = false;  ///< lines are written: nothing waits for them
    bool barrier = false; ///< the next instruction waits for all warps of the block
};

/** The threads, registers and shared memory of an SM that a block needs. */
struct Need {
    int threads = 0, registers = 0, shared_bytes = 0;

    int warps() const { return (threads + lanes_of_warp - 1) / lanes_of_warp; }
    /** Returns how many lines of memory hold the registers and the shared memory of a block. */
    std::int64_t lines() const {
        return (std::int64_t{registers} * 4 + shared_bytes + bytes_of_line - 1) / bytes_of_line;
    }
};

/** A grid of blocks, which is launched again once its last block has ended. */
struct Kernel {
    std::string name;
    Need need;
    std::int64_t blocks = 1; ///< of a launch
    std::vector<Step> body;  ///< of a warp, at least one step
    std::int64_t turns = 1;  ///< how often a warp executes the body
    int spread = 0;          ///< turns of a warp differ by up to so many per cent
    std::int64_t gap = 0;    ///< cycles from the end of a launch to the next one
};

} // namespace engine

#endif
