// SPDX-License-Identifier: MIT OR GPL-2.0
// The reason for a refused request: the kernel's errno stands for several, and the GPU's state
// shows which one it is.
#pragma once

#include "nvdebug/gpu.hpp"

namespace nvdebug {

/// @p error of the request @p text to @p file with its particular reason, where that is found.
Error why_refused(const Gpu &gpu, std::string_view file, std::string_view text, Error error);

/// `gpu0 (GP106) has no runlist 4; it has 0-3, 5, 6`
std::string no_runlist(const Gpu &gpu, const Info &info, std::uint64_t id);

} // namespace nvdebug
