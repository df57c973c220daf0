// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Compares two moments of a GPU, for `capture diff` and for `watch --changes`.
///
/// Both moments are turned into facts by object, with the names and words of the verbs that show
/// these objects. State that moves by itself is left out: what is on an engine, whether a channel
/// has work, and where the driver has put a list.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/json.hpp"
#include "nvdebug/gpu.hpp"

namespace nvdebugctl {

/// The place of an object in the order in which changes are shown.
struct ObjectPlace {
    enum class Kind { process, runlist, tsg, channel, lce } kind;
    std::optional<std::uint32_t> runlist; ///< of a runlist, TSG or channel
    std::uint64_t id;
    auto operator<=>(const ObjectPlace &) const = default;
};

struct ObjectFacts {
    std::string name; ///< `runlist 0`, `TSG 0:5`, `channel 0:7`, `LCE2`, `process 4711`
    Json facts;       ///< an object with keys as those of the verbs that list such objects
};

/// The parts of a GPU that are compared, at one moment.
struct Facts {
    std::map<ObjectPlace, ObjectFacts> objects;
    // Parts that could not be read are not compared.
    std::set<std::uint32_t> unknown_runlists;
    bool has_lces = false, has_owners = false;
};

struct Moment {
    Facts facts;
    std::vector<nvdebug::Error> errors; ///< why parts could not be read
};

/// Reads the lists, without instance blocks, the copy engines and the processes of a GPU.
[[nodiscard]] Moment read_moment(const nvdebug::Gpu &gpu);

/// Returns a row for each object that came or went, and for each fact of an object that changed, with
/// the columns of change_columns(). A channel that came or went with its TSG has no row, since the
/// TSG's row has it.
[[nodiscard]] Json changes_between(std::uint32_t gpu, const Facts &before, const Facts &after);

/// Returns the columns of a row: `gpu`, `object`, `change`, `what`, `before` and `after`.
[[nodiscard]] std::vector<Column> change_columns();

/// Returns a row as a line: `gpu0 TSG 0:5: timeslice 2.05ms -> 500us`.
[[nodiscard]] std::string shown_change(const Json &row);

} // namespace nvdebugctl
