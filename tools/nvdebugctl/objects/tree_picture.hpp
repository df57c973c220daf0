// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include <string>
#include <vector>

#include "lib/drawing/svg.hpp"
#include "state/tree.hpp"

namespace nvdebugctl {

/// Draws `runlist tree --svg`: one round of each runlist.
[[nodiscard]] std::string tree_svg(const std::vector<RunlistView> &tree,
                                   const drawing::Caption &caption);

} // namespace nvdebugctl
