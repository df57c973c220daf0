// SPDX-License-Identifier: MIT OR GPL-2.0
#include "color.hpp"

#include <cstdlib>
#include <string_view>

#include "output.hpp"

namespace nvdebugctl {

bool use_color(const std::optional<std::string> &when) {
    if (when == "always")
        return true;
    if (when == "never")
        return false;
    const char *const no_color = std::getenv("NO_COLOR");
    const char *const term = std::getenv("TERM");
    return Output::is_terminal() && !(no_color && *no_color) &&
           !(term && std::string_view(term) == "dumb");
}

} // namespace nvdebugctl
