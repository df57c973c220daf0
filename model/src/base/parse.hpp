// SPDX-License-Identifier: MIT OR GPL-2.0
// Parses numbers and words of options and requests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nvmodel {

/// Parses a whole text as a decimal or 0x… number.
std::optional<std::uint64_t> parse_number(std::string_view text);

/// Parses a decimal number that may have a fraction and an exponent; finite and not negative.
std::optional<double> parse_decimal(std::string_view text);

/// Words between blanks.
std::vector<std::string> split_words(std::string_view text);

} // namespace nvmodel
