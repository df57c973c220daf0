// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file `task set --share` sets timeslices that give tasks their parts of GR0's time, and follows
/// processes that come and go.
#pragma once

#include "cli/context.hpp"

namespace nvdebugctl {

/// Sets the timeslices for the value of --share. With --hold it computes and sets them again each
/// second.
[[nodiscard]] Outcome<Document> set_shares(Context &context);

} // namespace nvdebugctl
