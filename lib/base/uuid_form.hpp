// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The form of UUIDs, by which GPUs and pods are named.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace nvdebug::base {

constexpr std::size_t uuid_length = 36;

/// Returns whether @p text has only hexadecimal digits in lower case, or is empty.
constexpr bool is_hex(std::string_view text) {
    return text.find_first_not_of("0123456789abcdef") == text.npos;
}

/// Returns whether a UUID (`0f5a1c2e-1111-4222-8333-abcdefabcdef`) may begin with @p text, which is
/// in lower case and may be empty.
constexpr bool is_uuid_begin(std::string_view text) {
    for (std::size_t n = 0; n < text.size(); n++) {
        const bool dash = n == 8 || n == 13 || n == 18 || n == 23;
        if (dash ? text[n] != '-' : !is_hex(text.substr(n, 1)))
            return false;
    }
    return text.size() <= uuid_length;
}

} // namespace nvdebug::base
