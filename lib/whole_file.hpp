// SPDX-License-Identifier: MIT OR GPL-2.0
// A file that is there whole or not at all.
#ifndef NVDEBUG_LIB_WHOLE_FILE_HPP
#define NVDEBUG_LIB_WHOLE_FILE_HPP

#include <string>
#include <string_view>

namespace nvdebug {

/**
 * Compresses @p text into a temporary file beside @p path and renames that. Only its owner may read
 * it. What is there already is replaced if it is a file. @returns 0 or the errno.
 */
int write_whole_gzip(const std::string &path, std::string_view text);

} // namespace nvdebug

#endif
