// SPDX-License-Identifier: MIT OR GPL-2.0
/**
 * @file
 * @brief `runlistY`: TSGs and channels in the order in which Host goes round them.
 */
#ifndef NVDEBUG_RUNLIST_HPP
#define NVDEBUG_RUNLIST_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "nvdebug/export.hpp"
#include "nvdebug/instance.hpp"
#include "nvdebug/memory.hpp"

namespace nvdebug {

/** A channel's entry and its live state. What a generation does not have is empty. */
struct Channel {
    std::uint32_t id;
    /** Why there is no state: `channel id out of range`. */
    std::optional<std::string> error;

    std::optional<bool> enabled, next, busy, pbdma_faulted, engine_faulted;
    /** Kepler to Turing (PCCSR). */
    std::optional<bool> force_ctx_reload, enable_set, enable_clear, bound;
    /** Ampere and newer (channel RAM). */
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

/** An entry that is neither TSG nor channel. */
struct UnknownEntry {
    std::uint32_t index; ///< among all entries, from 0
    std::vector<std::uint32_t> words;
};

using RunlistItem = std::variant<Tsg, Channel, UnknownEntry>;

struct Runlist {
    std::uint32_t id;
    std::uint32_t entries;                       ///< length that the hardware was given
    std::optional<std::uint32_t> tsgs, channels; ///< empty: the list could not be read
    bool pending;                                ///< submitted, not yet taken over
    Place place;
    bool torn;                      ///< it moved during each attempt to copy it
    std::vector<RunlistItem> items; ///< in list order; a channel outside of a TSG is bare
};

enum class Detail { full, brief };

/** A channel of a list with the TSG it belongs to; both live as long as the list. */
struct ListedChannel {
    const Channel *channel;
    const Tsg *tsg; ///< nullptr: bare
};

/** Every channel entry in list order. */
NVDEBUG_API std::vector<ListedChannel> channels_of(const Runlist &runlist);

} // namespace nvdebug

#endif
