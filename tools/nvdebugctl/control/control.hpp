// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file From a request to the document of a control: old state, the write, new state, the lease.
 */
#ifndef NVDEBUGCTL_CONTROL_HPP
#define NVDEBUGCTL_CONTROL_HPP

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/context.hpp"
#include "cli/json.hpp"

namespace nvdebugctl {

/** Something that a control means to change, as it is now. */
struct Observation {
    enum class Kind { runlist, tsg, channel, task } kind;
    nvdebug::Target target; ///< of a runlist: its id; of a task: its pid
    std::string property;   ///< `enabled`, `timeslice_us`: as a key of JSON, with its unit
    Json value;             ///< null: not known
    bool gone = false;      ///< it is there no more
};

/** Looks; fails also if the request makes no sense for what is there. */
using Observe = std::function<Outcome<std::vector<Observation>>()>;

/** Command::check of a control with leases: the value of --for. */
Outcome<void> check_lease_time(const Context &context);

/** What a lease is to be of now; empty: what it is of. */
using Renew = std::function<std::optional<nvdebug::Request>()>;

/**
 * Carries out a request, as a dry run or a lease if the options demand it. With @p renew it is a
 * lease in any case, of the request that @p renew returns each second.
 */
Outcome<Document> carry_out(Context &context, const nvdebug::Request &request,
                            const Observe &observe, const Renew &renew = nullptr);

/** Prints a control's document as text. */
void show_control(const Json &data, Page &page);

// What each kind of control changes, looked at. Every call reads the GPU anew.

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
/** Of runlists: the TSGs `running` on their engines. */
Observe running(const nvdebug::Gpu &gpu, Ids runlists);
/** Of runlists: `scheduling`. */
Observe scheduling(const nvdebug::Gpu &gpu, Ids runlists);

} // namespace nvdebugctl

#endif
