// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file What a kernel does: the instructions of a warp, and what a block needs of an SM. */
#ifndef NVDEBUG_LAB_QUOTAS_ENGINE_KERNEL_HPP
#define NVDEBUG_LAB_QUOTAS_ENGINE_KERNEL_HPP

#include <string>
#include <vector>

#include "shape.hpp"

namespace engine {

/** A warp instruction, and when the next one of the warp can be issued. */
struct Step {
    int lanes = 32;       ///< active ones, 1 to 32
    int wait = 1;         ///< cycles until the next one; 1: they do not depend on each other
    int lines = 0;        ///< of memory; unless posted, the next one waits until they are there
    int far = 256;        ///< of 256 lines as many are in memory, the others in the L2 cache
    bool posted = false;  ///< lines are written: nothing waits for them
    bool barrier = false; ///< the next one waits for all warps of the block
};

/** What a block needs of an SM. */
struct Need {
    int threads = 0, registers = 0, shared_bytes = 0;

    int warps() const { return (threads + lanes_of_warp - 1) / lanes_of_warp; }
    /** Lines of memory that hold what a block has on its SM. */
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
