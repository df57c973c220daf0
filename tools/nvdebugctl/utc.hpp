// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Times as every form writes them. */
#ifndef NVDEBUGCTL_UTC_HPP
#define NVDEBUGCTL_UTC_HPP

#include <chrono>
#include <string>

namespace nvdebugctl {

/** UTC, ISO 8601 with milliseconds: `2026-01-31T12:00:00.250Z` */
std::string format_utc(std::chrono::system_clock::time_point time);

} // namespace nvdebugctl

#endif
