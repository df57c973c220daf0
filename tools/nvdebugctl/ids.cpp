// SPDX-License-Identifier: MIT OR GPL-2.0
#include "ids.hpp"

#include <fmt/format.h>

namespace nvdebugctl {

std::string fold_ids(std::span<const std::uint32_t> ids) {
    std::string text;
    for (std::size_t first = 0; first < ids.size();) {
        std::size_t last = first;
        while (last + 1 < ids.size() && ids[last + 1] == ids[last] + 1)
            ++last;
        if (!text.empty())
            text += ", ";
        // Two neighbours read better as a list.
        if (last == first)
            text += std::to_string(ids[first]);
        else
            text += fmt::format("{}{}{}", ids[first], last == first + 1 ? ", " : "-", ids[last]);
        first = last + 1;
    }
    return text;
}

std::string count_of(std::size_t count, std::string_view singular) {
    return fmt::format("{} {}{}", count, singular, count == 1 ? "" : "s");
}

} // namespace nvdebugctl
