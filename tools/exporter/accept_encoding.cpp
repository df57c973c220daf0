// SPDX-License-Identifier: MIT OR GPL-2.0
#include "accept_encoding.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace nvdebug::exporter {
namespace {

constexpr int full_weight = 1000; ///< in thousandths, because weights have at most three decimals

bool is_blank(char each) {
    return each == ' ' || each == '\t';
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_blank(text.front()))
        text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back()))
        text.remove_suffix(1);
    return text;
}

/// Compares words. ASCII letters may have either case, in any locale. @p lower is in small letters.
bool is_word(std::string_view text, std::string_view lower) {
    return std::ranges::equal(text, lower, {}, [](char each) {
        return each >= 'A' && each <= 'Z' ? static_cast<char>(each - 'A' + 'a') : each;
    });
}

/// Returns the text before the first @p mark, and leaves the text after it in @p rest.
std::string_view cut(std::string_view &rest, char mark) {
    const std::size_t at = rest.find(mark);
    const std::string_view first = rest.substr(0, at);
    rest.remove_prefix(at == rest.npos ? rest.size() : at + 1);
    return first;
}

/// Returns the list of all Accept-Encoding fields in a request's head, separated by commas. A line
/// that begins with a blank continues the previous line.
std::string accepted_codings(std::string_view request) {
    std::string list;
    cut(request, '\n');
    for (bool is_ours = false; !request.empty();) {
        std::string_view line = cut(request, '\n');
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        if (line.empty())
            break;
        if (is_blank(line.front())) {
            if (is_ours)
                list += line;
            continue;
        }
        const std::size_t colon = line.find(':');
        is_ours = colon != line.npos && is_word(line.substr(0, colon), "accept-encoding");
        if (is_ours)
            list.append(",").append(line.substr(colon + 1));
    }
    return list;
}

/// Parses a weight such as `0`, `1`, `0.125` or `1.000`. Returns an empty optional for other texts.
std::optional<int> parse_weight(std::string_view text) {
    constexpr std::size_t most = 5;
    if (text.empty() || text.size() > most || (text[0] != '0' && text[0] != '1') ||
        (text.size() > 1 && text[1] != '.'))
        return std::nullopt;
    int weight = text[0] == '1' ? full_weight : 0, unit = full_weight;
    for (const char digit : text.substr(std::min<std::size_t>(text.size(), 2))) {
        if (digit < '0' || digit > '9')
            return std::nullopt;
        weight += (digit - '0') * (unit /= 10);
    }
    return weight <= full_weight ? std::optional(weight) : std::nullopt;
}

/// Returns the weight in a coding's parameters, such as ` q=0.5`.
int weight_of(std::string_view parameters) {
    parameters = trimmed(parameters);
    if (!is_word(parameters.substr(0, 2), "q="))
        return 0;
    return parse_weight(parameters.substr(2)).value_or(0);
}

} // namespace

bool takes_gzip(std::string_view request) {
    const std::string list = accepted_codings(request);
    std::optional<int> gzip, identity, others;
    for (std::string_view rest = list; !rest.empty();) {
        std::string_view element = cut(rest, ',');
        const bool is_weighted = element.find(';') != element.npos;
        const std::string_view coding = trimmed(cut(element, ';'));
        std::optional<int> *const named = is_word(coding, "gzip") || is_word(coding, "x-gzip")
                                              ? &gzip
                                          : is_word(coding, "identity") ? &identity
                                          : coding == "*"               ? &others
                                                                        : nullptr;
        // If the list has a coding twice, the lower weight counts.
        if (named)
            *named = std::min(named->value_or(full_weight),
                              is_weighted ? weight_of(element) : full_weight);
    }
    const int packed = gzip ? *gzip : others.value_or(0);
    return packed > 0 && packed >= (identity ? *identity : others.value_or(0));
}

} // namespace nvdebug::exporter
