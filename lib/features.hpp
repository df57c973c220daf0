// SPDX-License-Identifier: MIT OR GPL-2.0
// Which feature of `info` a file belongs to.
#ifndef NVDEBUG_LIB_FEATURES_HPP
#define NVDEBUG_LIB_FEATURES_HPP

#include <string_view>

namespace nvdebug {

/** The name of the feature; empty: the file is there on every chip, or nobody knows it. */
std::string_view feature_of(std::string_view file);

} // namespace nvdebug

#endif
