// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file The size of a GPU. The defaults are Table 1 of the paper. Numbers that are not in the
 * table are made up (docs/quotas.md).
 */
#ifndef NVDEBUG_LAB_QUOTAS_ENGINE_SHAPE_HPP
#define NVDEBUG_LAB_QUOTAS_ENGINE_SHAPE_HPP

#include <cstddef>
#include <cstdint>

namespace engine {

inline constexpr int lanes_of_warp = 32, bytes_of_line = 128;

struct MemoryShape {
    std::int64_t sixteenths = 11; ///< of a cycle; the time of a line of 128 bytes
    std::int64_t near = 160;      ///< cycles until a line of the L2 cache is there
    std::int64_t far = 360;       ///< cycles until a line of memory is there, if the queue is empty
};

struct SmShape {
    int schedulers = 4;
    int threads = 2048, registers = 65536, shared_bytes = 96 << 10, blocks = 32;
};

struct GpuShape {
    std::size_t sms = 16;
    SmShape sm = {};
    MemoryShape memory = {};
};

} // namespace engine

#endif
