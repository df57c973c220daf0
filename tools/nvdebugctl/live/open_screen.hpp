// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Whether there is a live view, and how it ends.
#pragma once

#include <memory>
#include <string>

#include "cli/context.hpp"
#include "lib/live/screen.hpp"

namespace nvdebugctl {

using namespace nvdebug::live;

/// nullptr: lines are wanted, or a screen is not possible; then a message names @p instead.
[[nodiscard]] std::unique_ptr<Screen> open_screen(const Context &context,
                                                  const std::string &instead);

/// When the terminal is as it was: a signal that ended the view (0: none did) does what it does to
/// every program.
Exit end_by_signal(int signal);

} // namespace nvdebugctl
