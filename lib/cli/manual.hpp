// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Makes man pages at build time: `PROGRAM __manual <PROGRAM.1.in >PROGRAM.1`
///
/// Lines of the page that begin with `@` are replaced by mdoc(7):
///
///     @synopsis          how each verb is typed
///     @commands          the verbs, with help and notes
///     @options           all options; with several verbs, below the names of their verbs
///     @option --epoch    the heading of one option; its description follows in the page, in place
///                        of the sentence that @options would have
///     @examples          the examples
///
/// A page with `@option` must have each option of the table that is not hidden, once.
#pragma once

#include <string>

#include "lib/cli/table.hpp"
#include "nvdebug/expected.hpp"

namespace nvdebug::cli {

/// Returns the page. Fails with a sentence about the page's error.
[[nodiscard]] tl::expected<std::string, std::string> manual(const Program &program,
                                                            const std::string &page);

} // namespace nvdebug::cli
