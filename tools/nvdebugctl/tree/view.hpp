// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file runlist → TSG → address space → channel: what every form of `runlist tree` shows. */
#ifndef NVDEBUGCTL_TREE_VIEW_HPP
#define NVDEBUGCTL_TREE_VIEW_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "state.hpp"

namespace nvdebugctl {

struct SpaceView {
    std::optional<nvdebug::Place> page_directory; ///< empty: not known
    std::vector<std::uint32_t> veids;             ///< through which the TSG uses it; none: no VEIDs
    std::optional<std::string> error;             ///< why page_directory is empty, if that is known
    std::vector<const nvdebug::Channel *> channels; ///< in list order
};

/** A TSG, all its headers together, or a bare channel. */
struct TsgView {
    std::optional<std::uint32_t> id;                   ///< empty: a bare channel
    std::optional<std::uint64_t> timeslice_ns;         ///< of one header; empty: not in the list
    std::uint32_t headers;                             ///< how often the list has it
    std::optional<double> share;                       ///< of the runlist's time, 0 to 1
    std::optional<bool> may_run;                       ///< a channel is enabled
    std::optional<std::vector<std::string>> active_on; ///< engines that it is on; empty: not known
    std::optional<bool> shared; ///< more than one address space; empty: not known
    std::uint32_t length;       ///< channels that the headers announce
    bool truncated;             ///< fewer follow
    std::vector<SpaceView> spaces;
};

/** One header of the round, in list order. */
struct TurnView {
    std::size_t tsg; ///< index into RunlistView::tsgs
    std::uint64_t timeslice_ns;
};

struct RunlistView {
    std::uint32_t id;
    std::vector<std::string> engines;
    std::optional<bool> scheduling;     ///< empty: not known
    const nvdebug::Runlist *list;       ///< nullptr: could not be read
    std::optional<std::string> error;   ///< why
    std::vector<TsgView> tsgs;          ///< in the order in which the list first has them
    std::vector<TurnView> turns;        ///< of TSGs that may run
    std::optional<std::uint64_t> round; ///< ns that the turns take; empty: not to be said
    std::vector<const nvdebug::UnknownEntry *> unknown;

    bool empty() const { return list && list->entries == 0 && list->items.empty(); }
};

/** Points into @p state, which must outlive it. */
std::vector<RunlistView> make_tree(const State &state);

std::size_t channel_count(const TsgView &tsg);

} // namespace nvdebugctl

#endif
