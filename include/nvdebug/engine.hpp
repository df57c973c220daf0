// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief `device_info` (the engines of a GPU) and `engines` (what is running on them).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nvdebug {

/// A line of `device_info`.
struct Engine {
    std::string type; ///< `GR`, `LCE`, `COPY0`, `TYPE-N` …
    std::uint32_t instance;
    /// The name that people and `engines` use: `GR0`, `LCE3`, `COPY0` (its type names the
    /// instance).
    std::string name;
    std::optional<std::uint32_t> runlist;      ///< empty: Host does not drive it
    std::optional<std::uint32_t> runlist_base; ///< offset of the runlist's registers from BAR0's
                                               ///< start, in bytes
    std::optional<std::uint32_t> engine_id, fault_id, reset_id, intr_id;
    std::optional<std::uint32_t> pri_base; ///< offset of the engine's registers from BAR0's start,
                                           ///< in bytes
    std::vector<std::uint32_t> pbdmas;     ///< PBDMAs of its runlist, in runqueue order
};

/// A TSG or a channel, by its id in status registers.
struct Occupant {
    enum class Kind { tsg, channel } kind;
    std::uint32_t id;
    bool operator==(const Occupant &) const = default;
};

/// The state of a PBDMA that feeds an engine.
struct PbdmaState {
    std::uint32_t pbdma;
    std::optional<std::string> status; ///< a word as in EngineState::status
    std::optional<Occupant> current, next;
    std::optional<std::uint32_t> channel;
};

/// A line of `engines`. Values are empty where the register is not public on this chip.
struct EngineState {
    std::string engine; ///< Engine::name
    std::optional<std::uint32_t> runlist;
    std::optional<std::string>
        status; ///< `invalid`, `valid`, `load`, `save`, `switch`, `undefined-N`, `unreadable`
    std::optional<Occupant> current, next;
    std::optional<bool> busy, faulted, reload;
    std::vector<std::uint32_t> channels; ///< channels that feed the engine (Ampere and newer)
    std::vector<PbdmaState> pbdmas;      ///< PBDMAs of its runlist, in runqueue order
};

} // namespace nvdebug
