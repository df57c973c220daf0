// SPDX-License-Identifier: MIT OR GPL-2.0
// Advice for a user after a refused request, as the end of a sentence. The advice depends on the
// user: sudo gives root no right that its container or unit has taken away.
#pragma once

#include <string>

#include "kernel.hpp"

namespace nvdebug::driver {

/// Returns the advice after open() of a device file failed with EPERM or EACCES (@p number).
std::string advice_on_device(Kernel &kernel, int number);

/// Returns the advice if a right is missing that root usually has, such as `CAP_SYS_ADMIN`.
std::string advice_on_right(Kernel &kernel, const std::string &right);

} // namespace nvdebug::driver
