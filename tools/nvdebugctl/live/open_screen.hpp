// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Opens the screen of a live view, and ends the program after it.
#pragma once

#include <memory>
#include <string>

#include "cli/context.hpp"
#include "lib/live/screen.hpp"

namespace nvdebugctl {

using namespace nvdebug::live;

/// Opens the screen; nullptr: lines are wanted, or a screen is not possible. In the second case a
/// message says that @p instead is shown.
[[nodiscard]] std::unique_ptr<Screen> open_screen(const Context &context,
                                                  const std::string &instead);

/// Ends the program as the signal does that ended the view (0: none did). The caller has restored
/// the terminal before.
Exit end_by_signal(int signal);

} // namespace nvdebugctl
