// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Reads the state that several verbs need. Failures to read go to the context.
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

// This part reads the whole scheduling state of a GPU, each file once.

/// The results of reading each file. An error is kept and shown, and does not count as "nothing".
struct State {
    std::string folder; ///< `/proc/gpu0`, for the names of files
    nvdebug::Result<nvdebug::Info> info;
    nvdebug::Result<std::vector<nvdebug::Engine>> engines;
    nvdebug::Result<std::vector<nvdebug::EngineState>> now;
    std::map<std::uint32_t, nvdebug::Result<nvdebug::Runlist>> runlists; ///< `runlistY_brief`
    nvdebug::Result<std::vector<nvdebug::AddressSpaceUse>> spaces;
    nvdebug::Result<std::map<std::uint32_t, bool>> scheduling;
    nvdebug::Owners owners = {}; ///< empty, unless OwnersReader fills it
};

/// Reads the state of a GPU's engines. If a runlist never had a list, the status words of its block
/// are random (docs/hardware-measured.md). So an engine of an empty list is shown without an
/// occupant, whatever the words contain.
class EngineStates {
  public:
    explicit EngineStates(nvdebug::Gpu gpu) : gpu_(std::move(gpu)) {}

    nvdebug::Result<std::vector<nvdebug::EngineState>>
    read(nvdebug::Detail detail = nvdebug::Detail::full);

  private:
    bool has_list(std::uint32_t runlist);

    const nvdebug::Gpu gpu_;
    std::set<std::uint32_t> listed_; ///< runlists that had entries once
};

/// Returns the name of the file from which a runlist of State::runlists was read.
std::string runlist_file(std::uint32_t runlist);

/// Fails because a GPU shows no runlists: with the error of a GPU that cannot be opened or has gone,
/// else as `unsupported`.
tl::unexpected<Failure> no_runlists(const nvdebug::Gpu &gpu);

/// Reads the state of a GPU.
/// @param only read only this runlist's list; nullopt: all lists
State read_state(const nvdebug::Gpu &gpu, std::optional<std::uint32_t> only = std::nullopt);

/// Returns an error for each list that is torn or cannot be read.
std::vector<nvdebug::Error> list_errors_of(const State &state);

/// Returns the ids of the GPU's runlists.
std::vector<std::uint32_t> ids_of(const State &state);

/// Returns the errors of list_errors_of() and those of the other files. A file that this chip does
/// not have is no error.
std::vector<nvdebug::Error> errors_of(const State &state);

/// Takes a part that the answer can do without. Returns nothing if this chip has no such thing.
/// Another error is added to the context as missing.
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

/// Takes the part of the answer that says whether scheduling of runlists is on. Runlists of @p ids
/// without a state are added to the context as missing.
std::optional<std::map<std::uint32_t, bool>>
read_scheduling(Context &context, nvdebug::Result<std::map<std::uint32_t, bool>> result,
                const std::vector<std::uint32_t> &ids);

/// Fails because the GPU of that folder lacks runlist @p id. The sentence lists the runlists that
/// it has.
tl::unexpected<Failure> no_runlist(const std::string &folder, const std::vector<std::uint32_t> &ids,
                                   std::uint32_t id);

/// Reads one runlist. A torn list is returned, too, with a note.
Outcome<nvdebug::Runlist> read_runlist(Context &context, std::uint32_t id, nvdebug::Detail detail);

/// Reads the runlists that the command line names, or all. Lists that cannot be read are missing.
/// Fails if no list can be read.
Outcome<std::vector<nvdebug::Runlist>> read_runlists(Context &context, nvdebug::Detail detail);

/// Reads which process made each channel. For NVIDIA's driver as the source, the constructor starts
/// a thread that asks the driver while the caller reads the lists.
class OwnersReader {
  public:
    explicit OwnersReader(const Context &context);
    /// Returns the owners; empty: the source has none. It is called once. A note names processes
    /// that are left out.
    nvdebug::Owners get(Context &context);

  private:
    std::future<nvdebug::Result<nvdebug::Owners>> answer_;
};

/// Returns a sentence about the processes that were left out; empty: none were.
std::string passed_over(const nvdebug::Owners &owners);

/// Returns the list that holds the channel or TSG that the command line names.
Outcome<nvdebug::Runlist> find_list_of_channel(Context &context, const nvdebug::Target &target,
                                               nvdebug::Detail detail);
Outcome<nvdebug::Runlist> find_list_of_tsg(Context &context, const nvdebug::Target &target,
                                           nvdebug::Detail detail);

/// Names of the engines of each runlist, by the runlist's id.
using EngineNames = std::map<std::uint32_t, std::vector<std::string>>;
std::optional<EngineNames> read_engine_names(Context &context);
/// Returns the engines of one runlist; null: not known.
Json engines_of(const std::optional<EngineNames> &names, std::uint32_t runlist);

/// Returns the expected share of each TSG of the list, in percent or null, by TSG id.
std::map<std::uint32_t, Json> shares_of(const nvdebug::Runlist &list);

} // namespace nvdebugctl
