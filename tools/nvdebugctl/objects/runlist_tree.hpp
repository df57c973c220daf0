// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The forms of `runlist tree`.
#pragma once

#include <string>
#include <vector>

#include "cli/json.hpp"
#include "cli/output.hpp"
#include "lib/drawing/svg.hpp"
#include "state/tree.hpp"

namespace nvdebugctl {

/// Returns the command `runlist tree`.
[[nodiscard]] Command runlist_tree_command();

/// Prints the tree as text.
/// @param all runlists that hold nothing get a branch each, in place of a common last line
void print_tree(const State &state, const std::vector<RunlistView> &tree, bool all,
                const Terminal &terminal, Page &page);

/// Returns the `data` of nvdebug/runlist.tree.
[[nodiscard]] Json tree_json(const State &state, const std::vector<RunlistView> &tree);

} // namespace nvdebugctl
