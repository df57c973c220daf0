// SPDX-License-Identifier: MIT OR GPL-2.0
// Finds the reason for a refused request. An errno stands for several reasons, and the GPU's state
// shows which of them applies.
#pragma once

#include "nvdebug/gpu.hpp"

namespace nvdebug {

/// Returns @p error of the request @p text to @p file, with the particular reason if it can be
/// found.
Error why_refused(const Gpu &gpu, std::string_view file, std::string_view text, Error error);

/// Returns `gpu0 (GP106) has no runlist 4; it has 0-3, 5, 6`.
std::string no_runlist(const Gpu &gpu, const Info &info, std::uint64_t id);

} // namespace nvdebug
