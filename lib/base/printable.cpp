// SPDX-License-Identifier: MIT OR GPL-2.0
#include "printable.hpp"

#include <algorithm>

namespace nvdebug::base {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd"; // U+FFFD

struct Character {
    char32_t code;
    std::size_t length; ///< in bytes; 0: the text is not UTF-8
};

Character first_of(std::string_view text) {
    const auto byte = [&](std::size_t n) { return static_cast<unsigned char>(text[n]); };
    if (byte(0) < 0x80)
        return {byte(0), 1};
    struct Form {
        unsigned char mask, lead;
        char32_t lowest; ///< anything below has a shorter form
    };
    static constexpr Form forms[] = {
        {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    std::size_t length = 1;
    for (const Form &form : forms) {
        ++length;
        if ((byte(0) & form.mask) != form.lead)
            continue;
        char32_t code = byte(0) & static_cast<unsigned char>(~form.mask);
        for (std::size_t n = 1; n < length; ++n) {
            if (n == text.size() || (byte(n) & 0xc0) != 0x80)
                return {0, 0};
            code = code << 6 | (byte(n) & 0x3f);
        }
        const bool surrogate = code >= 0xd800 && code < 0xe000;
        return {code, code < form.lowest || surrogate || code > 0x10ffff ? 0 : length};
    }
    return {0, 0};
}

/// Returns whether the mark shows the following text from right to left, or changes the direction
/// of other text.
bool changes_direction(char32_t code) {
    return code == 0x61c || code == 0x200e || code == 0x200f ||
           (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x206f);
}

bool is_harmless(char32_t code) {
    const bool separates_lines = code == 0x2028 || code == 0x2029;
    return code >= 0x20 && !(code >= 0x7f && code < 0xa0) && code != 0xfffe && code != 0xffff &&
           !separates_lines && !changes_direction(code);
}

} // namespace

std::string printable(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const auto [code, length] = first_of(text);
        result += length > 0 && is_harmless(code) ? text.substr(0, length) : replacement;
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return result;
}

} // namespace nvdebug::base
