// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The tree of a runlist that every form of `runlist tree` shows: runlist → TSG → address
/// space → channel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "state.hpp"

namespace nvdebugctl {

struct SpaceView {
    std::optional<nvdebug::Place> page_directory; ///< empty: not known
    /// VEIDs through which the TSG uses the address space; empty: the chip has no VEIDs.
    std::vector<std::uint32_t> veids;
    std::optional<std::string> error; ///< why page_directory is empty, if the reason is known
    std::vector<const nvdebug::Channel *> channels; ///< in list order
};

/// A TSG with all its headers, or a bare channel.
struct TsgView {
    std::optional<std::uint32_t> id;           ///< empty: a bare channel
    std::optional<std::uint64_t> timeslice_ns; ///< from the first header; empty: not in the list
    std::uint32_t headers;                     ///< number of headers in the list
    std::optional<double> share;               ///< part of the runlist's time, 0 to 1
    std::optional<bool> may_run;               ///< whether a channel is enabled
    /// Engines that the TSG is on; empty: not known.
    std::optional<std::vector<std::string>> active_on;
    std::optional<bool> shared;              ///< more than one address space; empty: not known
    std::uint32_t length;                    ///< number of channels that the headers announce
    bool truncated;                          ///< fewer channels follow than a header announces
    std::vector<nvdebug::Process> processes; ///< processes that made its channels, as far as known
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
    const nvdebug::Runlist *list;       ///< nullptr: the list could not be read
    std::optional<std::string> error;   ///< why the list could not be read
    std::vector<TsgView> tsgs;          ///< in the order of their first entries in the list
    std::vector<TurnView> turns;        ///< turns of TSGs that may run
    std::optional<std::uint64_t> round; ///< ns that all turns together take; empty: not known
    std::vector<const nvdebug::UnknownEntry *> unknown;

    bool empty() const { return list && list->entries == 0 && list->items.empty(); }
};

/// Makes the trees of all runlists. They point into @p state, which must outlive them.
std::vector<RunlistView> make_tree(const State &state);

std::size_t channel_count(const TsgView &tsg);
/// Counts the channels. A repeated TSG counts once.
std::size_t channel_count(const RunlistView &runlist);
std::size_t tsg_count(const RunlistView &runlist);

// These functions return words that are the same in text and picture.

/// Channels of one address space that are in the same state.
struct ChannelGroup {
    std::vector<std::uint32_t> ids;
    bool disabled, faulted;
    std::string state; ///< empty: idle
};

/// Returns the groups in the order of their first channels.
std::vector<ChannelGroup> group_channels(const SpaceView &space);

/// Returns for example `channels 20, 22` or `channel 31  disabled, PENDING`.
std::string name_of(const ChannelGroup &group);

/// Returns for example `address space 0x0000121000 vid, VEID 1`.
std::string name_of(const SpaceView &space);

/// Returns for example `TSG 10` or `channel 3 (no TSG)`.
std::string name_of(const TsgView &tsg);

/// Returns for example `python3[4711], python3[4712]`; empty: not known.
std::string processes_of(const TsgView &tsg);

/// Returns for example `31.2%`; `-` if the share is not known.
std::string share_of(const TsgView &tsg);

/// Returns for example `2.00ms`.
std::string time_of(std::uint64_t ns);

/// Returns `2.00ms`, or `2.00ms x2` if the list has the TSG twice, or `-` for a bare
/// channel.
std::string timeslice_of(const TsgView &tsg);

/// Returns `scheduling on` or `scheduling off`; empty: not known.
std::string scheduling_of(const RunlistView &runlist);

/// Returns for example `5 TSGs, 11 channels`.
std::string size_of(const RunlistView &runlist);

/// Returns remarks on the list itself: pending, torn, unknown entries.
std::vector<std::string> remarks_on(const RunlistView &runlist);

/// Returns for example `gpu0  TU102 (Turing)  0000:00:09.0`.
std::string name_of_gpu(const State &state);

/// A range of RunlistView::tsgs that is shown in one line.
struct Alike {
    std::size_t first, count;
};

/// Divides RunlistView::tsgs into ranges. Eight or more neighbours that differ only in their ids
/// and address spaces form one range. Every other TSG is a range of its own.
std::vector<Alike> fold_alike(const RunlistView &runlist);

/// Returns `TSGs 0-249`, or the name of the only TSG.
std::string name_of(const RunlistView &runlist, const Alike &alike);

/// Returns the channels of all TSGs of the range, which are in the same state.
ChannelGroup channels_of(const RunlistView &runlist, const Alike &alike);

} // namespace nvdebugctl
