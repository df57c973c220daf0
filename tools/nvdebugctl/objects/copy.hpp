// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The pictures of `copy show`.
#pragma once

#include <string>

#include "cli/command.hpp"
#include "lib/drawing/svg.hpp"
#include "state/copy_wiring.hpp"

namespace nvdebugctl {

/// Draws `copy show --svg`, after Fig. 11 of Bakita and Anderson, RTAS 2024.
[[nodiscard]] std::string copy_svg(const CopyWiring &wiring, const drawing::Caption &caption);

/// Returns the pictures of `copy show`.
[[nodiscard]] std::vector<Picture> copy_pictures();

} // namespace nvdebugctl
