// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lib/base/words.hpp"

#include <algorithm>
#include <vector>

#include "lib/base/printable.hpp"

namespace nvdebug::base {
namespace {

/// Returns how many letters have to be changed, added, left out, or swapped with a neighbour.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> cost(a.size() + 1,
                                               std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i)
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                cost[i][j] = i + j;
                continue;
            }
            const bool same = a[i - 1] == b[j - 1];
            cost[i][j] = std::min(
                {cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (same ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    return cost[a.size()][b.size()];
}

char lower_case(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

std::string lower_case(std::string_view word) {
    std::string text;
    for (const char each : word)
        text += lower_case(each);
    return text;
}

/// Returns the word without the dashes of an option, which would count as correct letters.
std::string_view letters(std::string_view word) {
    word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
    return word;
}

} // namespace

std::optional<std::string> whole_word(std::string_view typed, std::span<const std::string> words) {
    const std::string *only = nullptr;
    for (const std::string &word : words) {
        if (word == typed)
            return word;
        if (!word.starts_with(typed))
            continue;
        if (only)
            return std::nullopt;
        only = &word;
    }
    return only && !typed.empty() ? std::optional(*only) : std::nullopt;
}

std::optional<std::string> same_word(std::string_view typed, std::span<const std::string> words) {
    const auto found = std::ranges::find_if(
        words, [&](const std::string &word) { return lower_case(word) == lower_case(typed); });
    return found == words.end() ? std::nullopt : std::optional(*found);
}

std::optional<std::string> nearest_word(std::string_view typed,
                                        std::span<const std::string> words) {
    constexpr std::size_t most = 2, longest = 64;
    if (typed.size() > longest)
        return std::nullopt;
    std::optional<std::string> nearest;
    std::size_t best = std::min(most, letters(typed).size() / 2) + 1;
    for (const std::string &word : words) {
        const std::size_t apart = distance(lower_case(typed), lower_case(word));
        // More than half of the letters of a short word have to be right.
        if (apart < best && 2 * apart < std::max(letters(typed).size(), letters(word).size())) {
            best = apart;
            nearest = word;
        }
    }
    return nearest;
}

std::string guess(std::string_view typed, std::span<const std::string> words) {
    std::vector<std::string> longer;
    if (!letters(typed).empty())
        std::ranges::copy_if(words, std::back_inserter(longer),
                             [&](const std::string &word) { return word.starts_with(typed); });
    constexpr std::size_t most = 6;
    if (longer.size() > 1 && longer.size() <= most)
        return "; it may be " + listed(longer, " or ");
    const auto meant =
        longer.size() == 1 ? std::optional(longer.front()) : nearest_word(typed, words);
    if (!meant)
        return "";
    // The dashes of an option set it apart from the sentence, so it needs no quotes.
    return " (did you mean " + (meant->starts_with('-') ? *meant : "'" + *meant + "'") + "?)";
}

std::string quote(std::string_view typed) {
    constexpr std::size_t longest = 100; // in bytes
    std::size_t end = typed.size();
    if (end > longest) {
        end = longest;
        while (end > longest - 4 && (static_cast<unsigned char>(typed[end]) & 0xc0) == 0x80)
            end--; // stay between two characters of UTF-8
    }
    return "'" + printable(typed.substr(0, end)) + (end < typed.size() ? "…'" : "'");
}

std::string listed(std::span<const std::string> words, std::string_view last) {
    std::string text;
    for (std::size_t n = 0; n < words.size(); n++) {
        if (n)
            text += n + 1 == words.size() ? last : ", ";
        text += words[n];
    }
    return text;
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
    return std::to_string(count) + ' ' + std::string(count == 1 ? one : many);
}

} // namespace nvdebug::base
