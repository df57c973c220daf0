// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Sends a request to the running nvqos, at its socket.
#pragma once

#include <chrono>
#include <string>

#include "tools/nvqos/failure.hpp"

namespace nvqos {

/// Sends the line and waits for the answer, each at most @p patience long. Returns what follows
/// `ok`. Fails with nvqos' sentence, or if no nvqos answers at @p path.
[[nodiscard]] Outcome<std::string> ask(const std::string &path, const std::string &line,
                                       std::chrono::seconds patience = std::chrono::seconds(10));

} // namespace nvqos
