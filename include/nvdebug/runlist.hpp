// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief `runlistY`: TSGs and channels in the order in which Host serves them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "nvdebug/export.hpp"
#include "nvdebug/instance.hpp"
#include "nvdebug/memory.hpp"

namespace nvdebug {

/// A channel's entry and its live state. Values that its generation lacks are empty.
struct Channel {
    std::uint32_t id;
    /// Why there is no state: `channel id out of range`.
    std::optional<std::string> error;

    std::optional<bool> enabled, next, busy, pbdma_faulted, engine_faulted;
    /// Kepler to Turing have these (PCCSR).
    std::optional<bool> force_ctx_reload, enable_set, enable_clear, bound;
    /// Ampere and newer have these (channel RAM).
    std::optional<bool> on_pbdma, on_engine, pending, ctx_reload, pbdma_busy, engine_busy,
        acquire_fail;
    std::optional<std::uint32_t> status;    ///< the hardware's code (Kepler to Turing)
    std::optional<std::string> status_name; ///< `IDLE`, `ON_PBDMA_AND_ENG`, …
    std::optional<std::uint32_t> runqueue;
    Place instance_place;
    std::optional<InstanceBlock> instance; ///< empty when read with Detail::brief
};

/// A TSG's header, and the channels that follow it.
struct Tsg {
    std::uint32_t id;
    std::uint32_t scale, timeout;
    std::uint64_t timeslice_ns; ///< (timeout << scale) * 1024 ns
    std::uint32_t length;       ///< the number of channels in the TSG's header
    bool truncated;             ///< fewer channels follow the header
    std::vector<Channel> channels;
};

/// An entry that is neither a TSG nor a channel.
struct UnknownEntry {
    std::uint32_t index; ///< among all entries, from 0
    std::vector<std::uint32_t> words;
};

using RunlistItem = std::variant<Tsg, Channel, UnknownEntry>;

/// A runlist as the hardware has it.
struct Runlist {
    std::uint32_t id;
    std::uint32_t entries; ///< the length that was given to the hardware
    /// The number of entries of each kind. An object that the list has twice counts twice. Empty:
    /// unreadable.
    std::optional<std::uint32_t> tsgs, channels;
    bool pending; ///< submitted, but not yet in force
    Place place;
    bool torn;                      ///< the list moved during each attempt to copy it
    std::vector<RunlistItem> items; ///< in list order; a channel outside of a TSG is bare
};

enum class Detail { full, brief };

/// A channel of a list and its TSG, as pointers into the list. A driver may list a TSG several
/// times, each time with its channels, to give it several turns a round. That is still one TSG, and
/// each of its channels is still one channel.
struct ListedChannel {
    const Channel *channel; ///< the first entry; the state of later entries was read a moment later
    const Tsg *tsg;         ///< nullptr: a bare channel
    std::uint32_t entries;  ///< how often the list has the channel
};

/// Returns every channel once, in TSGs and bare, in the order of their first entries.
NVDEBUG_API std::vector<ListedChannel> channels_of(const Runlist &runlist);
std::vector<ListedChannel> channels_of(const Runlist &&runlist) = delete;

/// A TSG with all its headers, as pointers into the list.
struct ListedTsg {
    std::uint32_t id;
    std::vector<const Tsg *> headers; ///< one or more, in list order
};

/// Returns every TSG once, in the order of their first headers.
NVDEBUG_API std::vector<ListedTsg> tsgs_of(const Runlist &runlist);
std::vector<ListedTsg> tsgs_of(const Runlist &&runlist) = delete;

/// Returns the ids in the given order, with runs of consecutive ids folded: `0-7, 9, 20-22`.
NVDEBUG_API std::string fold_ids(std::span<const std::uint32_t> ids);

} // namespace nvdebug
