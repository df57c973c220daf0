// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file `task set --share`: timeslices that give tasks their parts of GR0's time, as processes
/// come and go.
#pragma once

#include "cli/context.hpp"

namespace nvdebugctl {

/// Sets the timeslices for the value of --share, and with --hold sets them anew each second.
[[nodiscard]] Outcome<Document> set_shares(Context &context);

} // namespace nvdebugctl
