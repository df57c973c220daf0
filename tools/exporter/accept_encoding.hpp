// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What a request says of compression: RFC 9110, section 12.5.3, and RFC 9112, section 5.
#pragma once

#include <string_view>

namespace nvdebug::exporter {

/// Returns whether the answer to @p request, from its first line on, is to be packed with gzip.
/// Fields after the head are not looked at.
///
/// All Accept-Encoding fields are one list. gzip (or x-gzip, or else `*`) has to be in it with a
/// weight above 0, and identity with no higher one. An element that is not well formed refuses its
/// coding, as an answer that is not packed is right for everybody.
[[nodiscard]] bool takes_gzip(std::string_view request);

} // namespace nvdebug::exporter
