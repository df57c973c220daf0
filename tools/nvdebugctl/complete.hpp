// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file What may be typed next: asked by the completion script of the shell. */
#ifndef NVDEBUGCTL_COMPLETE_HPP
#define NVDEBUGCTL_COMPLETE_HPP

#include <string>
#include <vector>

#include "commands.hpp"
#include "output.hpp"

namespace nvdebugctl {

/** Hidden from help: `nvdebugctl __complete -- WORD…`, the last one being typed. */
inline constexpr const char *complete_verb = "__complete";

/** Prints one candidate a line; nothing where nothing is known, and never an error. */
int complete(const std::vector<Object> &objects, const std::vector<std::string> &words,
             Output &output);

} // namespace nvdebugctl

#endif
