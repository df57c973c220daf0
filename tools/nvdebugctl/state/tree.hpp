// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file runlist → TSG → address space → channel: what every form of `runlist tree` shows.
#pragma once

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

/// A TSG, all its headers together, or a bare channel.
struct TsgView {
    std::optional<std::uint32_t> id;                   ///< empty: a bare channel
    std::optional<std::uint64_t> timeslice_ns;         ///< of one header; empty: not in the list
    std::uint32_t headers;                             ///< how often the list has it
    std::optional<double> share;                       ///< of the runlist's time, 0 to 1
    std::optional<bool> may_run;                       ///< a channel is enabled
    std::optional<std::vector<std::string>> active_on; ///< engines that it is on; empty: not known
    std::optional<bool> shared;              ///< more than one address space; empty: not known
    std::uint32_t length;                    ///< channels that the headers announce
    bool truncated;                          ///< fewer follow
    std::vector<nvdebug::Process> processes; ///< that made its channels, as far as known
    std::vector<SpaceView> spaces;
};

/// One header of the round, in list order.
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
    std::optional<std::uint64_t> round; ///< ns that the turns take; empty: not known
    std::vector<const nvdebug::UnknownEntry *> unknown;

    bool empty() const { return list && list->entries == 0 && list->items.empty(); }
};

/// Points into @p state, which must outlive it.
std::vector<RunlistView> make_tree(const State &state);

std::size_t channel_count(const TsgView &tsg);
/// A repeated TSG counts once.
std::size_t channel_count(const RunlistView &runlist);
std::size_t tsg_count(const RunlistView &runlist);

// The words, the same in text and picture.

/// Channels of one space that are in the same state.
struct ChannelGroup {
    std::vector<std::uint32_t> ids;
    bool disabled, faulted;
    std::string state; ///< empty: idle
};

/// In the order of their first channels.
std::vector<ChannelGroup> group_channels(const SpaceView &space);

/// `channels 20, 22`, `channel 31  disabled, PENDING`.
std::string name_of(const ChannelGroup &group);

/// `address space 0x0000121000 vid, VEID 1`.
std::string name_of(const SpaceView &space);

/// `TSG 10`, `channel 3 (no TSG)`.
std::string name_of(const TsgView &tsg);

/// `python3[4711], python3[4712]`; empty: not known.
std::string processes_of(const TsgView &tsg);

/// `31.2%`; `-` where it is not known.
std::string share_of(const TsgView &tsg);

/// `2.00ms`
std::string time_of(std::uint64_t ns);

/// `2.00ms`, `2.00ms x2` if the list has the TSG twice; `-` for a bare channel.
std::string timeslice_of(const TsgView &tsg);

/// `scheduling on`, `scheduling off`; empty: not known.
std::string scheduling_of(const RunlistView &runlist);

/// `5 TSGs, 11 channels`.
std::string size_of(const RunlistView &runlist);

/// What is wrong with the list itself: pending, torn, unknown entries.
std::vector<std::string> remarks_on(const RunlistView &runlist);

/// `gpu0  TU102 (Turing)  0000:00:09.0`.
std::string name_of_gpu(const State &state);

/// Neighbours of RunlistView::tsgs that are shown in one line.
struct Alike {
    std::size_t first, count;
};

/// All of RunlistView::tsgs: eight or more that differ in nothing but their ids and address spaces
/// together, every other one by itself.
std::vector<Alike> fold_alike(const RunlistView &runlist);

/// `TSGs 0-249`, or the name of the only one.
std::string name_of(const RunlistView &runlist, const Alike &alike);

/// Channels of all of them, which are in the same state.
ChannelGroup channels_of(const RunlistView &runlist, const Alike &alike);

} // namespace nvdebugctl
