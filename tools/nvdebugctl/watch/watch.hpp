// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file `watch`: one sampler, shown on a terminal or written as NDJSON. */
#ifndef NVDEBUGCTL_WATCH_WATCH_HPP
#define NVDEBUGCTL_WATCH_WATCH_HPP

#include <chrono>
#include <cstdint>
#include <optional>

#include "context.hpp"
#include "output.hpp"

namespace nvdebugctl {

struct WatchPlan {
    std::chrono::milliseconds interval;
    std::optional<std::uint64_t> count; ///< samples; empty: until somebody ends it
};

Outcome<Exit> watch(Context &context, Output &output, const WatchPlan &plan);

} // namespace nvdebugctl

#endif
