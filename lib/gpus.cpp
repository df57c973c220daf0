// SPDX-License-Identifier: MIT OR GPL-2.0
#include "nvdebug/gpu.hpp"
#include "text.hpp"

#include <limits>

namespace nvdebug {

Result<std::vector<Gpu>> gpus(const Tree &tree) {
    return tree.list("").map([&](const std::vector<std::string> &names) {
        std::vector<Gpu> found;
        for (std::string_view name : names) {
            if (!text::take_prefix(name, "gpu"))
                continue;
            const auto index = text::number(name);
            // Only as the module writes it, so that each GPU has one name.
            if (index && *index <= std::numeric_limits<std::uint32_t>::max() &&
                std::to_string(*index) == name)
                found.emplace_back(tree, static_cast<std::uint32_t>(*index));
        }
        return found;
    });
}

} // namespace nvdebug
