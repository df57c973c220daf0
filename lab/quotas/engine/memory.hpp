// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file The memory of the whole GPU is one queue of lines, limited by bandwidth. */
#ifndef NVDEBUG_LAB_QUOTAS_ENGINE_MEMORY_HPP
#define NVDEBUG_LAB_QUOTAS_ENGINE_MEMORY_HPP

#include <algorithm>

#include "shape.hpp"

namespace engine {

class Memory {
  public:
    explicit Memory(const MemoryShape &shape) : shape_(shape) {}

    /**
     * Moves lines, after all lines of earlier requests.
     * @param cycle in which they are asked for
     * @param far lines of memory; 0 if all lines are in the L2 cache
     * @returns the cycle in which the last one is there
     */
    std::int64_t move(std::int64_t cycle, std::int64_t far) {
        if (far == 0)
            return cycle + shape_.near;
        free_ = std::max(free_, cycle * parts) + far * shape_.sixteenths;
        lines_ += far;
        return cycle_of(free_) - cycle_of(shape_.sixteenths) + shape_.far;
    }

    /** Returns how many lines of memory were requested so far. */
    std::int64_t lines() const { return lines_; }
    /** Returns how many cycles these lines take. */
    std::int64_t busy() const { return cycle_of(lines_ * shape_.sixteenths); }

  private:
    static constexpr std::int64_t parts = 16;
    static std::int64_t cycle_of(std::int64_t sixteenths) {
        return (sixteenths + parts - 1) / parts;
    }

    MemoryShape shape_;
    std::int64_t free_ = 0; ///< in parts of a cycle: when the queue is empty
    std::int64_t lines_ = 0;
};

} // namespace engine

#endif
