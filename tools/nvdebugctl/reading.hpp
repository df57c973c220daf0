// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Reading what several verbs need; what cannot be read is said through the context. */
#ifndef NVDEBUGCTL_READING_HPP
#define NVDEBUGCTL_READING_HPP

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "context.hpp"
#include "nvdebug/answers.hpp"

namespace nvdebugctl {

/**
 * A part that the answer can do without: null where this chip has no such thing, where the reader
 * may not read it, or a capture lacks it (a word on stderr says so); missing where it should have
 * been readable.
 */
template <typename T>
std::optional<T> read_part(Context &context, const std::string &what, nvdebug::Result<T> result) {
    if (result)
        return std::move(*result);
    using nvdebug::ErrorCode;
    const ErrorCode code = result.error().code;
    if (code == ErrorCode::denied || code == ErrorCode::not_found)
        context.note(what + " is not shown: " + result.error().sentence);
    else if (code != ErrorCode::unsupported)
        context.missing(result.error());
    return std::nullopt;
}

/** One runlist; a torn one is given and said to be so. */
Outcome<nvdebug::Runlist> read_runlist(Context &context, std::uint32_t id, nvdebug::Detail detail);

/** The runlists named on the command line, or all: those that can be read. Fails if none can. */
Outcome<std::vector<nvdebug::Runlist>> read_runlists(Context &context, nvdebug::Detail detail);

/** A list that holds what the command line names (the index is that in Context::targets()). */
Outcome<nvdebug::Runlist> find_list_of_channel(Context &context, const nvdebug::Target &target,
                                               nvdebug::Detail detail);
Outcome<nvdebug::Runlist> find_list_of_tsg(Context &context, const nvdebug::Target &target,
                                           nvdebug::Detail detail);

/** Names of the engines of each runlist. */
using EngineNames = std::map<std::uint32_t, std::vector<std::string>>;
std::optional<EngineNames> read_engine_names(Context &context);
/** Of one runlist; null if unknown. */
Json engines_of(const std::optional<EngineNames> &names, std::uint32_t runlist);

/** Expected share of each TSG of the list, in percent or null, by TSG id. */
std::map<std::uint32_t, Json> shares_of(const nvdebug::Runlist &list);

} // namespace nvdebugctl

#endif
