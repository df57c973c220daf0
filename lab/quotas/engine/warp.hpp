// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Warps and blocks that have begun and not ended. */
#ifndef NVDEBUG_LAB_QUOTAS_ENGINE_WARP_HPP
#define NVDEBUG_LAB_QUOTAS_ENGINE_WARP_HPP

#include <cstdint>
#include <vector>

#include "kernel.hpp"

namespace engine {

struct Warp {
    enum class State : std::uint8_t { ready, waiting, at_barrier, ended };

    std::int64_t due = 0;   ///< while it waits: the cycle from which on it is ready
    std::int64_t left = 0;  ///< turns
    std::int32_t next = -1; ///< of those in the same slot of a wheel
    std::int32_t block = 0;
    std::int32_t step = 0;
    State state = State::ready;
    std::uint8_t kernel = 0;
    std::uint8_t scheduler = 0, position = 0;
    std::uint8_t far = 0; ///< of 256, what is left of lines of memory when they are counted
};

struct Block {
    std::int32_t first = 0; ///< of its warps
    std::int32_t warps = 0, running = 0, waiting = 0, at_barrier = 0;
    std::uint8_t kernel = 0;
    bool leaving = false; ///< its SM gets rid of it: its warps issue nothing more
    bool saved = false;   ///< it was on an SM before
};

/** All of a GPU. What has ended is used again, so that nothing is allocated in the end. */
struct Live {
    std::vector<Warp> warps;
    std::vector<Block> blocks;
    std::vector<std::vector<std::int32_t>> unused; ///< blocks by kernel

    /** @returns the number of a block; its warps have yet to be set up */
    std::int32_t add(std::uint8_t kernel, const Need &need) {
        if (!unused[kernel].empty()) {
            const std::int32_t found = unused[kernel].back();
            unused[kernel].pop_back();
            return found;
        }
        const auto found = static_cast<std::int32_t>(blocks.size());
        blocks.push_back({.first = static_cast<std::int32_t>(warps.size()),
                          .warps = need.warps(),
                          .kernel = kernel});
        warps.resize(warps.size() + static_cast<std::size_t>(need.warps()),
                     {.block = found, .kernel = kernel});
        return found;
    }
    void remove(std::int32_t block) { unused[at(block).kernel].push_back(block); }

    Warp &warp(std::int32_t number) { return warps[static_cast<std::size_t>(number)]; }
    Block &at(std::int32_t number) { return blocks[static_cast<std::size_t>(number)]; }
};

} // namespace engine

#endif
