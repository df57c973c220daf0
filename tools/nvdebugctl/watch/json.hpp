// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file A sample as a line of NDJSON. */
#ifndef NVDEBUGCTL_WATCH_JSON_HPP
#define NVDEBUGCTL_WATCH_JSON_HPP

#include <chrono>

#include "document.hpp"
#include "watch/residency.hpp"

namespace nvdebugctl {

/** `data` of nvdebug/watch. */
Json watch_json(const Sample &sample, const Residency &residency, std::chrono::milliseconds period);

} // namespace nvdebugctl

#endif
