// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file `task list` and `task show` list processes and what they have on the GPU.
#pragma once

#include "cli/context.hpp"
#include "cli/page.hpp"

namespace nvdebugctl {

[[nodiscard]] Outcome<Document> list_tasks(Context &context);
[[nodiscard]] Outcome<Document> show_task(Context &context);
/// Prints the data of show_task() as text.
void print_task(const Json &data, Page &page);

} // namespace nvdebugctl
