// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Finds out whether a request accepts a packed answer: RFC 9110, section 12.5.3, and RFC
/// 9112, section 5.
#pragma once

#include <string_view>

namespace nvdebug::exporter {

/// Returns whether the answer to @p request, which begins with its first line, should be packed
/// with gzip. The body of the request is not examined.
///
/// All Accept-Encoding fields form one list. The list must contain gzip (or x-gzip, or else `*`)
/// with a weight above 0, and identity must have no higher weight. An element that is not well
/// formed refuses its coding, because every client accepts an answer that is not packed.
[[nodiscard]] bool takes_gzip(std::string_view request);

} // namespace nvdebug::exporter
