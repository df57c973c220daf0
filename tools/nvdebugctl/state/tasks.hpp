// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Which TSGs a process has, and where the hardware has them. */
#ifndef NVDEBUGCTL_TASKS_HPP
#define NVDEBUGCTL_TASKS_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "cli/context.hpp"
#include "nvdebug/owner.hpp"
#include "nvdebug/runlist.hpp"

namespace nvdebugctl {

/** Where the hardware has a channel. */
struct Listed {
    std::uint32_t runlist;
    std::optional<std::uint32_t> tsg;
    const nvdebug::Channel *channel; ///< of the list
    const nvdebug::Tsg *header;      ///< its first; nullptr: bare
};

/** Of each channel that was made: where it is in a list, if in any. */
using Places = std::map<const nvdebug::OwnedChannel *, Listed>;

/** They live as long as the lists and owners. */
Places find_listed(const std::vector<nvdebug::Runlist> &lists, const nvdebug::Owners &owners);

/** The channels of a TSG as its client knows it. */
using Task = std::vector<const nvdebug::OwnedChannel *>;

std::vector<Task> tasks_of(const nvdebug::Owners &owners, const nvdebug::Process &process);

/** The first of its channels that is in a list; nullptr: none is. */
const Listed *place_of(const Task &task, const Places &places);

/** Its timeslice in microseconds: as the list has it, else as lists have what the driver was asked
 *  for. Null: not known. */
Json timeslice_of(const Task &task, const Places &places);

/** Columns that identify a process, before those of its TSGs. Users of a capture have no names. */
Json head_of(const Context &context, const nvdebug::Process &process);

/** Lists that can be read; none is no failure: that is for root, the rest is not. */
std::vector<nvdebug::Runlist> lists_of_tasks(Context &context);

/** Reports processes that may not be queried as missing, and other omissions in a note. */
void say_passed_over(Context &context, const nvdebug::Owners &owners);

} // namespace nvdebugctl

#endif
