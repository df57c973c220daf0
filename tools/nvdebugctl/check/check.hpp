// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What `check` asks of a GPU: rules, each a pure function over what was read.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "finding.hpp"
#include "state/state.hpp"
#include "state/tree.hpp"

namespace nvdebugctl {

struct Facts {
    State state;
    nvdebug::Result<nvdebug::CopyTopology> copy;
};

[[nodiscard]] std::vector<Command> check_commands();

Facts read_facts(const nvdebug::Gpu &gpu);

/// Why answers are a part of one; what a chip does not have is no reason.
[[nodiscard]] std::vector<nvdebug::Error> errors_of(const Facts &facts);

/// A rule of Bakita and Anderson, RTAS 2024, asked about one GPU as it is now.
struct Rule {
    const char *name; ///< `R1`
    Finding (*find)(const Facts &facts);
};

/// R1 to R8.
std::span<const Rule> rules();

Finding channels_are_the_way_in(const Facts &facts);          ///< R1
Finding channels_limit_streams(const Facts &facts);           ///< R2
Finding lists_are_whole(const Facts &facts);                  ///< R3
Finding one_task_per_engine(const Facts &facts);              ///< R4
Finding runlists_limit_independence(const Facts &facts);      ///< R5
Finding runlists_serve_several_engines(const Facts &facts);   ///< R6
Finding engines_have_one_runlist(const Facts &facts);         ///< R7
Finding copy_engines_share_physical_ones(const Facts &facts); ///< R8

/// @return `/proc/gpu0/NAME`
[[nodiscard]] std::string file_of(const Facts &facts, const std::string &name);

/// The question cannot be answered, or not wholly, because of @p why.
void give_up(Finding &finding, const std::string &why);

/// Marks the answer as incomplete where lists could not be read. R3 has the reason.
void note_unread_lists(Finding &finding, const Facts &facts);

/// No list could be read, so that a question about lists has no answer but that.
bool without_lists(Finding &finding, const Facts &facts);

/// TSGs and bare channels with an enabled channel: tasks that may be chosen.
[[nodiscard]] std::vector<const TsgView *> runnable(const RunlistView &runlist);

} // namespace nvdebugctl
