// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The rules that `check` examines on a GPU. Each rule is a pure function over what was read
/// of the GPU.
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

/// Returns the errors that make an answer incomplete. A file that this chip does not have is no
/// error.
[[nodiscard]] std::vector<nvdebug::Error> errors_of(const Facts &facts);

/// A rule of Bakita and Anderson, RTAS 2024. Its function judges one GPU by the state that was just
/// read.
struct Rule {
    const char *name; ///< `R1`
    Finding (*find)(const Facts &facts);
};

/// Returns the rules R1 to R8, in this order.
std::span<const Rule> rules();

Finding channels_are_the_way_in(const Facts &facts);          ///< R1
Finding channels_limit_streams(const Facts &facts);           ///< R2
Finding lists_are_whole(const Facts &facts);                  ///< R3
Finding one_task_per_engine(const Facts &facts);              ///< R4
Finding runlists_limit_independence(const Facts &facts);      ///< R5
Finding runlists_serve_several_engines(const Facts &facts);   ///< R6
Finding engines_have_one_runlist(const Facts &facts);         ///< R7
Finding copy_engines_share_physical_ones(const Facts &facts); ///< R8

/// Returns `/proc/gpu0/NAME`.
[[nodiscard]] std::string file_of(const Facts &facts, const std::string &name);

/// Adds to the finding that its question cannot be answered, or only in part, because of @p why.
void give_up(Finding &finding, const std::string &why);

/// Adds to the finding which lists could not be read. The finding of R3 has the reasons.
void note_unread_lists(Finding &finding, const Facts &facts);

/// Returns true if no list could be read. Then it adds to the finding that nothing about lists is
/// known.
bool without_lists(Finding &finding, const Facts &facts);

/// Returns the TSGs and bare channels that Host may choose: those with an enabled channel, or whose
/// channels' state is unknown.
[[nodiscard]] std::vector<const TsgView *> runnable(const RunlistView &runlist);

} // namespace nvdebugctl
