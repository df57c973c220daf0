// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Units of time in nanoseconds, for the tests of what tasks had.
#pragma once

#include <cstdint>

namespace nvdebug::exporter {

inline constexpr std::uint64_t us = 1'000, ms = 1'000 * us;

} // namespace nvdebug::exporter
