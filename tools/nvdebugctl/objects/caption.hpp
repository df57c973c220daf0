// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include <string_view>

#include "cli/context.hpp"
#include "lib/drawing/svg.hpp"

namespace nvdebugctl {

/// Returns the caption of the picture that a command draws for @p option.
[[nodiscard]] drawing::Caption caption_of(const Context &context, std::string_view option);

} // namespace nvdebugctl
