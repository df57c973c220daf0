// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file `runlist tree -j`: everything that the text sums up, in full. */
#ifndef NVDEBUGCTL_TREE_JSON_HPP
#define NVDEBUGCTL_TREE_JSON_HPP

#include <vector>

#include "document.hpp"
#include "tree/view.hpp"

namespace nvdebugctl {

/** `data` of nvdebug/runlist.tree. */
Json tree_json(const std::vector<RunlistView> &tree);

} // namespace nvdebugctl

#endif
