// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file `task restore`: undoes what a program that was killed, with its keeper, left changed.
#pragma once

#include "cli/context.hpp"

namespace nvdebugctl {

/// Command::check of it.
[[nodiscard]] Outcome<void> check_restore(const Context &context);
[[nodiscard]] Outcome<Document> restore_tasks(Context &context);

} // namespace nvdebugctl
