// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file The pictures that nvdebugctl draws. */
#ifndef NVDEBUGCTL_PICTURES_PICTURES_HPP
#define NVDEBUGCTL_PICTURES_PICTURES_HPP

#include <string>

#include "pictures/copy_wiring.hpp"
#include "pictures/svg.hpp"
#include "tree/view.hpp"

namespace nvdebugctl {

/** `copy show --svg`: after Fig. 11 of Bakita and Anderson, RTAS 2024. */
std::string copy_svg(const CopyWiring &wiring, const Caption &caption);

/** `copy show --dot`: the same for Graphviz. */
std::string copy_dot(const CopyWiring &wiring, const Caption &caption);

/** `runlist tree --svg`: one round of each runlist. */
std::string tree_svg(const std::vector<RunlistView> &tree, const Caption &caption);

} // namespace nvdebugctl

#endif
