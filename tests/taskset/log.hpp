// SPDX-License-Identifier: MIT OR GPL-2.0
// What happened, for tests: a line each in the file named by STAND_IN_LOG.
#pragma once

#include <string>

namespace stand_in {

void log(const std::string &line);
/// What a real GPU does not survive: the line goes to stderr, too, and the process ends with
/// status 99.
[[noreturn]] void die(const std::string &line);

} // namespace stand_in
