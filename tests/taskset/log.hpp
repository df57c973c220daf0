// SPDX-License-Identifier: MIT OR GPL-2.0
// The log of the stand-in, with a line for each launch or error in the file of STAND_IN_LOG.
#pragma once

#include <string>

namespace stand_in {

void log(const std::string &line);
/// Ends the process with status 99, for errors that a real GPU would not survive. The line is also
/// printed on stderr.
[[noreturn]] void die(const std::string &line);

} // namespace stand_in
