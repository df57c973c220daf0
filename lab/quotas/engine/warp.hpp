// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file The live warps and blocks, which have begun and not ended. */
#ifndef NVDEBUG_LAB_QUOTAS_ENGINE_WARP_HPP
#define NVDEBUG_LAB_QUOTAS_ENGINE_WARP_HPP

#include <cstdint>
#include <vector>

#include "kernel.hpp"

namespace engine {

struct Warp {
    enum class State : std::uint8_t { ready, waiting, at_barrier, ended };

    std::int64_t due = 0;   ///< the cycle from which a waiting warp is ready
    std::int64_t left = 0;  ///< turns that are left
    std::int32_t next = -1; ///< the next warp in the same slot of a wheel
    std::int32_t block = 0;
    std::int32_t step = 0;
    State state = State::ready;
    std::uint8_t kernel = 0;
    std::uint8_t scheduler = 0, position = 0;
    std::uint8_t far = 0; ///< remainder, in 256ths of a line, when lines of memory are counted
};

struct Block {
    std::int32_t first = 0; ///< its first warp
    std::int32_t warps = 0, running = 0, waiting = 0, at_barrier = 0;
    std::uint8_t kernel = 0;
    bool leaving = false; ///< evicted: its warps issue nothing more
    bool saved = false;   ///< it was on an SM before
};

/** All live warps and blocks of a GPU. Places are used again, so that in time a run allocates
 * nothing more. */
struct Live {
    std::vector<Warp> warps;
    std::vector<Block> blocks;
    std::vector<std::vector<std::int32_t>> unused; ///< blocks by kernel

    /** Adds a block and returns its number. The caller sets up its warps. */
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
