// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Observations for controls: each function observes the state that one kind of control
/// changes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/context.hpp"
#include "cli/json.hpp"

namespace nvdebugctl {

/// The present value of something that a control is about to change.
struct Observation {
    enum class Kind { runlist, tsg, channel, task } kind;
    nvdebug::Target target; ///< for a runlist its id, for a task its pid
    std::string property;   ///< the JSON key, with its unit: `enabled`, `timeslice_us`
    Json value;             ///< null: not known
    bool gone = false;      ///< true if the target no longer exists
};

/// Reads the observed values. Fails also if the request makes no sense for the present state.
using Observe = std::function<Outcome<std::vector<Observation>>()>;

using Targets = std::vector<nvdebug::Target>;
using Ids = std::vector<std::uint32_t>;

// The functions that follow return an observation. Each call of it reads the GPU again.

/// Observes `enabled` of channels.
[[nodiscard]] Observe enabled(const nvdebug::Gpu &gpu, Targets channels);
/// Observes `compute_preemption` of a channel.
[[nodiscard]] Observe compute_preemption(const nvdebug::Gpu &gpu, nvdebug::Target channel);
/// Observes `on_engines` of TSGs: the engines that each TSG occupies.
[[nodiscard]] Observe on_engines(const nvdebug::Gpu &gpu, Targets tsgs);
/// Observes `timeslice_us` of a TSG.
[[nodiscard]] Observe timeslice(const nvdebug::Gpu &gpu, nvdebug::Target tsg);
/// Observes `listed_tsgs` of the runlist that holds the TSG.
[[nodiscard]] Observe listed_beside(const nvdebug::Gpu &gpu, nvdebug::Target tsg);
/// Observes `listed_tsgs` of runlists.
[[nodiscard]] Observe listed(const nvdebug::Gpu &gpu, Ids runlists);
/// Observes `running` of runlists: the TSGs and channels on their engines.
[[nodiscard]] Observe running(const nvdebug::Gpu &gpu, Ids runlists);
/// Observes `scheduling` of runlists.
[[nodiscard]] Observe scheduling(const nvdebug::Gpu &gpu, Ids runlists);

} // namespace nvdebugctl
