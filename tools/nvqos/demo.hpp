// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file `nvqos --demo`: the view of nvqos over a simulated GPU, in real time.
#pragma once

#include "command_line.hpp"
#include "failure.hpp"

namespace nvqos {

/// Keeps the goals on simulated tasks until a signal, the key q or the end of --for, and shows what
/// nvqos shows on a GPU. It takes no GPU, no driver and no rights. Returns Exit::partial if a goal
/// was not kept.
Outcome<Exit> demonstrate(const Invocation &invocation);

} // namespace nvqos
