// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file `runlist tree` for a person. */
#ifndef NVDEBUGCTL_TREE_TEXT_HPP
#define NVDEBUGCTL_TREE_TEXT_HPP

#include <vector>

#include "page.hpp"
#include "terminal.hpp"
#include "tree/view.hpp"

namespace nvdebugctl {

/** @param all also runlists that hold nothing get a branch, instead of a common last line. */
void print_tree(const State &state, const std::vector<RunlistView> &tree, bool all,
                const Terminal &terminal, Page &page);

} // namespace nvdebugctl

#endif
