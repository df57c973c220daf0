// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file From a request to the document of a control: old state, the write, new state, the lease.
 */
#ifndef NVDEBUGCTL_CONTROL_CARRY_OUT_HPP
#define NVDEBUGCTL_CONTROL_CARRY_OUT_HPP

#include <functional>
#include <string>
#include <vector>

#include "context.hpp"
#include "document.hpp"

namespace nvdebugctl {

/** Something that a control means to change, as it is now. */
struct Observation {
    enum class Kind { runlist, tsg, channel } kind;
    nvdebug::Target target; ///< of a runlist: its id
    std::string property;   ///< `enabled`, `timeslice_us`: as a key of JSON, with its unit
    Json value;             ///< null: not known
};

/** Looks; fails also if the request makes no sense for what is there. */
using Observe = std::function<Outcome<std::vector<Observation>>()>;

/** Command::check of a control with leases: what --for says. */
Outcome<void> check_lease_time(const Context &context);

/** Does what --dry-run and --for ask of it. */
Outcome<Document> carry_out(Context &context, const nvdebug::Request &request,
                            const Observe &observe);

/** What a control's document says to a person. */
void show_control(const Json &data, Page &page);

} // namespace nvdebugctl

#endif
