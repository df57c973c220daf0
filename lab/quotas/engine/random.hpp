// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Pseudo-random numbers, which depend on a seed alone. */
#ifndef NVDEBUG_LAB_QUOTAS_ENGINE_RANDOM_HPP
#define NVDEBUG_LAB_QUOTAS_ENGINE_RANDOM_HPP

#include <cstdint>

namespace engine {

/** Mixes the bits of a value (splitmix64). The result is the same on every machine. */
constexpr std::uint64_t mixed(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
}

} // namespace engine

#endif
