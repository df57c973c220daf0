// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file What a picture says of itself, from what it was made. */
#ifndef NVDEBUGCTL_PICTURES_CAPTION_HPP
#define NVDEBUGCTL_PICTURES_CAPTION_HPP

#include <string_view>

#include "context.hpp"
#include "pictures/svg.hpp"

namespace nvdebugctl {

Caption caption_of(const Context &context, std::string_view option);

} // namespace nvdebugctl

#endif
