// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file What `watch` says of a list. */
#ifndef NVDEBUGCTL_WATCH_SUMMARY_HPP
#define NVDEBUGCTL_WATCH_SUMMARY_HPP

#include <cstddef>

#include "nvdebug/runlist.hpp"

namespace nvdebugctl {

struct ListSummary {
    std::size_t tsgs, channels, enabled, busy;
};

/** Entries, as the list has them. */
ListSummary summarize(const nvdebug::Runlist &list);

} // namespace nvdebugctl

#endif
