// SPDX-License-Identifier: MIT OR GPL-2.0
// A workload fitted to a board: runlists, ids and formats are settled and checked.
#pragma once

#include "board/board.hpp"
#include "workload/workload.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace nvmodel {

struct PlannedChannel {
    unsigned runlist = 0;
    unsigned id = 0;
    std::optional<std::size_t> tsg; // index; none: a bare channel
    std::string task;
    EngineName engine;
    Work work;
    bool enabled = true;
    unsigned runqueue = 0;
    unsigned subcontext = 0;
    ChannelFault fault = ChannelFault::none;
    Timeslice timeslice;                     // its TSG's, or its own if it is bare
    std::vector<std::string> address_spaces; // by subcontext
    Aperture instance_aperture = Aperture::video;
    ContextSpec context; // its TSG's, or its own if it is bare
    bool privileged = false;
};

struct PlannedTsg {
    unsigned runlist = 0;
    unsigned id = 0;
    std::string task;
    Timeslice timeslice;
    unsigned header_length = 0; // the length in its header
    std::vector<std::size_t> channels;
};

struct PlannedTsgEntry {
    std::size_t tsg;
};
struct PlannedChannelEntry {
    std::size_t channel;
};
struct PlannedRawEntry {
    std::vector<std::uint32_t> words;
};
using PlannedEntry = std::variant<PlannedTsgEntry, PlannedChannelEntry, PlannedRawEntry>;

struct Plan {
    std::string name;
    Placement placement = Placement::high;
    BarSetup bars = BarSetup::translated;
    Aperture runlist_aperture = Aperture::video;
    bool unified_memory = false; // all memory is system memory, in any aperture
    std::map<std::string, AddressSpaceSpec> address_spaces;
    std::vector<PlannedTsg> tsgs;
    std::vector<PlannedChannel> channels;
    std::map<unsigned, std::vector<PlannedEntry>> lists; // by runlist id

    /// Returns whether anything goes to system memory.
    [[nodiscard]] bool needs_system_memory() const;
};

/// Fits a workload to a board. Throws ConfigError naming the place in the workload's file that does
/// not fit.
Plan make_plan(const Workload &workload, const Board &board);

} // namespace nvmodel
