// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What each kind of control changes, as it is now.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/context.hpp"
#include "cli/json.hpp"

namespace nvdebugctl {

/// Something that a control means to change, as it is now.
struct Observation {
    enum class Kind { runlist, tsg, channel, task } kind;
    nvdebug::Target target; ///< of a runlist: its id; of a task: its pid
    std::string property;   ///< `enabled`, `timeslice_us`: as a key of JSON, with its unit
    Json value;             ///< null: not known
    bool gone = false;      ///< it is there no more
};

/// Looks; fails also if the request makes no sense for what is there.
using Observe = std::function<Outcome<std::vector<Observation>>()>;

using Targets = std::vector<nvdebug::Target>;
using Ids = std::vector<std::uint32_t>;

// Each call reads the GPU anew.

/// Of channels: `enabled`.
[[nodiscard]] Observe enabled(const nvdebug::Gpu &gpu, Targets channels);
/// Of a channel: `compute_preemption`.
[[nodiscard]] Observe compute_preemption(const nvdebug::Gpu &gpu, nvdebug::Target channel);
/// Of TSGs: the engines that each is `on_engines`.
[[nodiscard]] Observe on_engines(const nvdebug::Gpu &gpu, Targets tsgs);
/// Of a TSG: `timeslice_us`.
[[nodiscard]] Observe timeslice(const nvdebug::Gpu &gpu, nvdebug::Target tsg);
/// Of the runlist that holds a TSG: the `listed_tsgs`.
[[nodiscard]] Observe listed_beside(const nvdebug::Gpu &gpu, nvdebug::Target tsg);
/// Of runlists: the `listed_tsgs`.
[[nodiscard]] Observe listed(const nvdebug::Gpu &gpu, Ids runlists);
/// Of runlists: the TSGs `running` on their engines.
[[nodiscard]] Observe running(const nvdebug::Gpu &gpu, Ids runlists);
/// Of runlists: `scheduling`.
[[nodiscard]] Observe scheduling(const nvdebug::Gpu &gpu, Ids runlists);

} // namespace nvdebugctl
