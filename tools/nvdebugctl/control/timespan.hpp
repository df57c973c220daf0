// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Spans of time as people type them. */
#ifndef NVDEBUGCTL_CONTROL_TIMESPAN_HPP
#define NVDEBUGCTL_CONTROL_TIMESPAN_HPP

#include <cstdint>
#include <optional>
#include <string_view>

namespace nvdebugctl {

/** `500us`, `2ms`, `1.5ms`, `1s`, or plain microseconds, in ns; no finer than 1 ns. */
std::optional<std::uint64_t> parse_timespan_ns(std::string_view text);

} // namespace nvdebugctl

#endif
