// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief `runlistY`: TSGs and channels in the order in which Host goes round them.
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

/// A channel's entry and its live state. What a generation does not have is empty.
struct Channel {
    std::uint32_t id;
    /// Why there is no state: `channel id out of range`.
    std::optional<std::string> error;

    std::optional<bool> enabled, next, busy, pbdma_faulted, engine_faulted;
    /// Kepler to Turing (PCCSR).
    std::optional<bool> force_ctx_reload, enable_set, enable_clear, bound;
    /// Ampere and newer (channel RAM).
    std::optional<bool> on_pbdma, on_engine, pending, ctx_reload, pbdma_busy, engine_busy,
        acquire_fail;
    std::optional<std::uint32_t> status;    ///< the hardware's number (Kepler to Turing)
    std::optional<std::string> status_name; ///< `IDLE`, `ON_PBDMA_AND_ENG`, …
    std::optional<std::uint32_t> runqueue;
    Place instance_place;
    std::optional<InstanceBlock> instance; ///< empty when read with Detail::brief
};

struct Tsg {
    std::uint32_t id;
    std::uint32_t scale, timeout;
    std::uint64_t timeslice_ns; ///< (timeout << scale) * 1024 ns
    std::uint32_t length;       ///< channels that its header announces
    bool truncated;             ///< fewer than that follow
    std::vector<Channel> channels;
};

/// An entry that is neither TSG nor channel.
struct UnknownEntry {
    std::uint32_t index; ///< among all entries, from 0
    std::vector<std::uint32_t> words;
};

using RunlistItem = std::variant<Tsg, Channel, UnknownEntry>;

struct Runlist {
    std::uint32_t id;
    std::uint32_t entries; ///< length that the hardware was given
    /// Entries of each kind: what the list has twice counts twice. Empty: it cannot be read.
    std::optional<std::uint32_t> tsgs, channels;
    bool pending; ///< submitted, not yet taken over
    Place place;
    bool torn;                      ///< it moved during each attempt to copy it
    std::vector<RunlistItem> items; ///< in list order; a channel outside of a TSG is bare
};

enum class Detail { full, brief };

/// A channel of a list with the TSG it belongs to; both live as long as the list. A driver lists a
/// TSG several times to give it several turns a round, each time with its channels: that is still
/// one TSG, and each channel one channel.
struct ListedChannel {
    const Channel *channel; ///< its first entry; the state of later ones was read a moment later
    const Tsg *tsg;         ///< nullptr: bare
    std::uint32_t entries;  ///< how often the list has it
};

/// Every channel of each TSG, and every bare one, once, in the order of their first entries.
NVDEBUG_API std::vector<ListedChannel> channels_of(const Runlist &runlist);
std::vector<ListedChannel> channels_of(const Runlist &&runlist) = delete;

/// A TSG with all its headers; they live as long as the list.
struct ListedTsg {
    std::uint32_t id;
    std::vector<const Tsg *> headers; ///< one or more, in list order
};

/// Every TSG once, in the order of their first headers.
NVDEBUG_API std::vector<ListedTsg> tsgs_of(const Runlist &runlist);
std::vector<ListedTsg> tsgs_of(const Runlist &&runlist) = delete;

/// Ids as people read them: in the order given, runs of consecutive ones as `0-7, 9, 20-22`.
NVDEBUG_API std::string fold_ids(std::span<const std::uint32_t> ids);

} // namespace nvdebug
