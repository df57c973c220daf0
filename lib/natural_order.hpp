// SPDX-License-Identifier: MIT OR GPL-2.0
// The order in which people expect names with numbers: gpu2 before gpu10.
#ifndef NVDEBUG_LIB_NATURAL_ORDER_HPP
#define NVDEBUG_LIB_NATURAL_ORDER_HPP

#include <string_view>

namespace nvdebug {

bool natural_less(std::string_view a, std::string_view b);

} // namespace nvdebug

#endif
