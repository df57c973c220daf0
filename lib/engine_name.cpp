// SPDX-License-Identifier: MIT OR GPL-2.0
#include "engine_name.hpp"

namespace nvdebug {

std::string engine_name(const std::string &type, std::uint32_t instance) {
    if (type.starts_with("TYPE-"))
        return type + ":" + std::to_string(instance);
    const bool named = !type.empty() && type.back() >= '0' && type.back() <= '9';
    return named ? type : type + std::to_string(instance);
}

} // namespace nvdebug
