// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file `task restore` undoes changes that remained because a program was killed together with its
/// keeper.
#pragma once

#include "cli/context.hpp"

namespace nvdebugctl {

/// The Command::check of `task restore`.
[[nodiscard]] Outcome<void> check_restore(const Context &context);
[[nodiscard]] Outcome<Document> restore_tasks(Context &context);

} // namespace nvdebugctl
