// SPDX-License-Identifier: MIT OR GPL-2.0
// Parses the boxes below a channel of `runlistY`.
#pragma once

#include "lib/base/text.hpp"
#include "nvdebug/instance.hpp"

namespace nvdebug {

InstanceBlock read_instance_block(text::Scanner &scanner, const text::BoxTitle &title);
Subcontext read_subcontext(text::Scanner &scanner, const text::BoxTitle &title, std::uint32_t veid);
Context read_context(text::Scanner &scanner, const text::BoxTitle &title);

/// Checks after the last box of a block that all announced boxes were there.
void check_instance_block(text::Scanner &scanner, InstanceBlock &block);

} // namespace nvdebug
