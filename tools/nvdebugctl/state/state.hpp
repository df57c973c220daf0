// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Reads what several verbs need; failures to read go to the context.
#pragma once

#include <cstdint>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/context.hpp"
#include "nvdebug/answers.hpp"

namespace nvdebugctl {

// The whole scheduling state of a GPU, each file read once.

/// Each result is what reading its file gave: an error is shown, never taken for "nothing".
struct State {
    std::string folder; ///< `/proc/gpu0`, to name files by
    nvdebug::Result<nvdebug::Info> info;
    nvdebug::Result<std::vector<nvdebug::Engine>> engines;
    nvdebug::Result<std::vector<nvdebug::EngineState>> now;
    std::map<std::uint32_t, nvdebug::Result<nvdebug::Runlist>> runlists; ///< `runlistY_brief`
    nvdebug::Result<std::vector<nvdebug::AddressSpaceUse>> spaces;
    nvdebug::Result<std::map<std::uint32_t, bool>> scheduling;
    nvdebug::Owners owners = {}; ///< nothing, unless it was asked for: OwnersReader
};

/// What is on the engines of a GPU. The status words of a runlist's block that never had a list are
/// random (docs/hardware.md): so an engine of an empty list has no occupant, whatever they show.
class EngineStates {
  public:
    explicit EngineStates(nvdebug::Gpu gpu) : gpu_(std::move(gpu)) {}

    nvdebug::Result<std::vector<nvdebug::EngineState>>
    read(nvdebug::Detail detail = nvdebug::Detail::full);

  private:
    bool has_list(std::uint32_t runlist);

    const nvdebug::Gpu gpu_;
    std::set<std::uint32_t> listed_; ///< runlists that have had entries
};

/// The file that a runlist of State::runlists was read from.
std::string runlist_file(std::uint32_t runlist);

/// That a GPU has none to show, and why.
std::string no_runlists(const std::string &folder, const nvdebug::Info &info);

/// @param only this runlist's list alone, if given.
State read_state(const nvdebug::Gpu &gpu, std::optional<std::uint32_t> only = std::nullopt);

/// Lists that are torn or cannot be read.
std::vector<nvdebug::Error> list_errors_of(const State &state);

/// Of its runlists.
std::vector<std::uint32_t> ids_of(const State &state);

/// Those, and errors of reading the other files; what a chip does not have is none.
std::vector<nvdebug::Error> errors_of(const State &state);

/// A part that the answer can do without: null where this chip has no such thing; else missing.
template <typename T>
std::optional<T> read_part(Context &context, const std::string &what, nvdebug::Result<T> result) {
    if (result)
        return std::move(*result);
    nvdebug::Error error = std::move(result).error();
    if (is_absent(error))
        return std::nullopt;
    error.sentence = what + " is not shown: " + error.sentence;
    context.missing(std::move(error));
    return std::nullopt;
}

/// Whether scheduling of runlists is on: a part; those of @p ids that are not among them are
/// missing.
std::optional<std::map<std::uint32_t, bool>>
read_scheduling(Context &context, nvdebug::Result<std::map<std::uint32_t, bool>> result,
                const std::vector<std::uint32_t> &ids);

/// The GPU of that folder lacks runlist @p id, and has those of @p ids.
tl::unexpected<Failure> no_runlist(const std::string &folder, const std::vector<std::uint32_t> &ids,
                                   std::uint32_t id);

/// Reads one runlist; a torn one is returned, with a note.
Outcome<nvdebug::Runlist> read_runlist(Context &context, std::uint32_t id, nvdebug::Detail detail);

/// The runlists named on the command line, or all: those that can be read. Fails if none can.
Outcome<std::vector<nvdebug::Runlist>> read_runlists(Context &context, nvdebug::Detail detail);

/// Which process made a channel. NVIDIA's driver is asked from here on, on a thread of its own,
/// while the lists are read.
class OwnersReader {
  public:
    explicit OwnersReader(const Context &context);
    /// Reads owners once; empty where the source has none. A note names processes left out.
    nvdebug::Owners get(Context &context);

  private:
    std::future<nvdebug::Result<nvdebug::Owners>> answer_;
};

/// A sentence about processes that were left out; empty: none.
std::string passed_over(const nvdebug::Owners &owners);

/// A list that holds what the command line names (the index is that in Context::targets()).
Outcome<nvdebug::Runlist> find_list_of_channel(Context &context, const nvdebug::Target &target,
                                               nvdebug::Detail detail);
Outcome<nvdebug::Runlist> find_list_of_tsg(Context &context, const nvdebug::Target &target,
                                           nvdebug::Detail detail);

/// Names of the engines of each runlist.
using EngineNames = std::map<std::uint32_t, std::vector<std::string>>;
std::optional<EngineNames> read_engine_names(Context &context);
/// Of one runlist; null if unknown.
Json engines_of(const std::optional<EngineNames> &names, std::uint32_t runlist);

/// Expected share of each TSG of the list, in percent or null, by TSG id.
std::map<std::uint32_t, Json> shares_of(const nvdebug::Runlist &list);

} // namespace nvdebugctl
