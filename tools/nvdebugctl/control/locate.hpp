// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Where a channel or TSG that the user named is: on which runlist, in which TSG. */
#ifndef NVDEBUGCTL_CONTROL_LOCATE_HPP
#define NVDEBUGCTL_CONTROL_LOCATE_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "failure.hpp"
#include "nvdebug/nvdebug.hpp"

namespace nvdebugctl {

/** The runlists that targets may be on, each read once. */
class Lists {
  public:
    /** Those that @p targets name; all if one of them names none. */
    static Outcome<Lists> read(const nvdebug::Gpu &gpu, std::span<const nvdebug::Target> targets,
                               nvdebug::Detail detail = nvdebug::Detail::brief);

    struct Found {
        const nvdebug::Runlist *runlist;
        const nvdebug::Tsg *tsg;         ///< nullptr: a bare channel
        const nvdebug::Channel *channel; ///< nullptr: a TSG was looked for
    };

    /** Every entry that @p target may mean, one for each runlist. */
    std::vector<Found> channel(const nvdebug::Target &target) const;
    std::vector<Found> tsg(const nvdebug::Target &target) const;

  private:
    std::map<std::uint32_t, nvdebug::Runlist> lists_;
};

/** Fails if the GPU lacks a runlist that a target names; else the ids of all that it has. */
Outcome<std::vector<std::uint32_t>> known_runlists(const nvdebug::Gpu &gpu,
                                                   std::span<const nvdebug::Target> targets);

/** Is it clear what is meant? Where ids are those of a runlist, one has to hold the channel, or be
 *  named. */
Outcome<void> unambiguous_channel(const nvdebug::Target &target, bool ids_per_runlist,
                                  const std::vector<Lists::Found> &found);

/** The same of a TSG, which has to be on a list. */
Outcome<void> unambiguous_tsg(const nvdebug::Target &target,
                              const std::vector<Lists::Found> &found);

/** The context of a channel, which the list may print below another one; nullptr: none shown. */
const nvdebug::Context *context_of(const nvdebug::Runlist &runlist,
                                   const nvdebug::Channel &channel);

} // namespace nvdebugctl

#endif
