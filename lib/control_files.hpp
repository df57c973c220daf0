// SPDX-License-Identifier: MIT OR GPL-2.0
// Files that one writes to.
#ifndef NVDEBUG_LIB_CONTROL_FILES_HPP
#define NVDEBUG_LIB_CONTROL_FILES_HPP

#include <string_view>

#include "descriptor.hpp"

namespace nvdebug {

/** Does reading it give the answer to what was written, and nothing else? */
bool answers(std::string_view file);

/** A control that took a request. While the descriptor is open, a lease holds. */
struct Performed {
    Descriptor file;
    std::string answer;
};

/**
 * One open, one write of the whole text, and what the control answers.
 * @returns the errno of the first that failed in place of it.
 */
tl::expected<Performed, int> write_control(const std::string &path, std::string_view text,
                                           bool with_answer);

} // namespace nvdebug

#endif
