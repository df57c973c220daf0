// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file What each kind of control changes, looked at. Every call reads the GPU anew. */
#ifndef NVDEBUGCTL_CONTROL_OBSERVE_HPP
#define NVDEBUGCTL_CONTROL_OBSERVE_HPP

#include <cstdint>
#include <vector>

#include "control/carry_out.hpp"

namespace nvdebugctl {

using Targets = std::vector<nvdebug::Target>;
using Ids = std::vector<std::uint32_t>;

/** Of channels: `enabled`. */
Observe enabled(const nvdebug::Gpu &gpu, Targets channels);
/** Of a channel: `compute_preemption`. */
Observe compute_preemption(const nvdebug::Gpu &gpu, nvdebug::Target channel);
/** Of TSGs: the engines that each is `on_engines`. */
Observe on_engines(const nvdebug::Gpu &gpu, Targets tsgs);
/** Of a TSG: `timeslice_us`. */
Observe timeslice(const nvdebug::Gpu &gpu, nvdebug::Target tsg);
/** Of the runlist that holds a TSG: the `listed_tsgs`. */
Observe listed_beside(const nvdebug::Gpu &gpu, nvdebug::Target tsg);
/** Of runlists: the `listed_tsgs`. */
Observe listed(const nvdebug::Gpu &gpu, Ids runlists);
/** Of runlists: who is `running` on their engines. */
Observe running(const nvdebug::Gpu &gpu, Ids runlists);
/** Of runlists: `scheduling`. */
Observe scheduling(const nvdebug::Gpu &gpu, Ids runlists);

} // namespace nvdebugctl

#endif
