// SPDX-License-Identifier: MIT OR GPL-2.0
// ENODEV and its like, as captures spell them.
#ifndef NVDEBUG_LIB_ERRNO_NAME_HPP
#define NVDEBUG_LIB_ERRNO_NAME_HPP

#include <string>
#include <string_view>

namespace nvdebug {

std::string errno_name(int number);

/** 0: no such name. */
int errno_of_name(std::string_view name);

} // namespace nvdebug

#endif
