// SPDX-License-Identifier: MIT OR GPL-2.0
// What a user may do who was refused: an end of a sentence, by who asks. Root has all rights but
// those that were taken from its container or unit, and sudo gives it no more.
#pragma once

#include <string>

#include "kernel.hpp"

namespace nvdebug::driver {

/// After open() of a device file failed with EPERM or EACCES (@p number).
std::string advice_on_device(Kernel &kernel, int number);

/// After a right is lacking that root mostly has, `CAP_SYS_ADMIN`.
std::string advice_on_right(Kernel &kernel, const std::string &right);

} // namespace nvdebug::driver
