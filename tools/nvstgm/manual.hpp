// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The man page, at build time: `nvstgm __manual <nvstgm.1.in >nvstgm.1`
#pragma once

#include <string>

namespace nvstgm {

/// Returns @p prose with the table of commands in place of its lines @synopsis, @commands, @options
/// and @examples.
[[nodiscard]] std::string manual(const std::string &prose);

} // namespace nvstgm
