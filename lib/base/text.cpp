// SPDX-License-Identifier: MIT OR GPL-2.0
#include "text.hpp"
#include "nvdebug/parse.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace nvdebug::text {

std::string_view trim(std::string_view text) {
    const std::size_t first = text.find_first_not_of(' ');
    if (first == text.npos)
        return {};
    return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::string_view take_until(std::string_view &rest, char separator) {
    const std::size_t at = rest.find(separator);
    const std::string_view taken = rest.substr(0, at);
    rest.remove_prefix(at == rest.npos ? rest.size() : at + 1);
    return taken;
}

std::string_view take_word(std::string_view &rest) {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    return take_until(rest, ' ');
}

bool take_prefix(std::string_view &rest, std::string_view prefix) {
    if (!rest.starts_with(prefix))
        return false;
    rest.remove_prefix(prefix.size());
    return true;
}

std::optional<std::uint64_t> number(std::string_view text) {
    const int base = take_prefix(text, "0x") ? 16 : 10;
    std::uint64_t value = 0;
    const char *const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value, base);
    if (error != std::errc() || stop != end)
        return std::nullopt;
    return value;
}

std::string printable(std::string_view text) {
    std::string clean(text);
    for (char &c : clean)
        if (c < ' ' || c > '~')
            c = '?';
    return clean;
}

std::string quote(std::string_view text) {
    constexpr std::size_t longest = 40;
    const std::string quoted = printable(text.substr(0, longest));
    return text.size() > longest ? quoted + "..." : quoted;
}

bool same_in_any_case(std::string_view a, std::string_view b) {
    const auto lower = [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    };
    return std::ranges::equal(a, b, {}, lower, lower);
}

bool Scanner::next(std::string_view &line) {
    if (failed() || rest_.empty())
        return false;
    line_++;
    if (rest_.find('\n') == rest_.npos) {
        fail("the text ends in the middle of the line");
        return false;
    }
    line = take_until(rest_, '\n');
    return true;
}

void Scanner::fail(const std::string &what) {
    if (error_)
        return;
    const std::string where = line_ ? "line " + std::to_string(line_) + ": " : "no text: ";
    error_ = Error{ErrorCode::malformed, 0, "", where + what};
}

void Value::fail(std::string_view what) const {
    scanner.fail("'" + quote(key) + "' is '" + quote(text) + "', not " + std::string(what));
}

void read(const Value &value, bool &to) {
    if (value.text != "0" && value.text != "1")
        return value.fail("0 or 1");
    to = value.text == "1";
}

void read(const Value &value, std::uint32_t &to) {
    const auto parsed = number(value.text);
    if (!parsed || *parsed > std::numeric_limits<std::uint32_t>::max())
        return value.fail("a number of 32 bits");
    to = static_cast<std::uint32_t>(*parsed);
}

void read(const Value &value, std::uint64_t &to) {
    const auto parsed = number(value.text);
    if (!parsed)
        return value.fail("a number");
    to = *parsed;
}

void read(const Value &value, std::string &to) {
    if (value.text.empty())
        return value.fail("a word");
    to = value.text;
}

void read(const Value &value, Aperture &to) {
    for (const Aperture aperture : {Aperture::video, Aperture::coherent, Aperture::noncoherent,
                                    Aperture::invalid, Aperture::peer}) {
        if (value.text == name_of(aperture)) {
            to = aperture;
            return;
        }
    }
    value.fail("an aperture");
}

void read(const Value &value, Place &to) {
    std::string_view rest = value.text;
    read({value.scanner, value.key, take_word(rest)}, to.address);
    read({value.scanner, value.key, trim(rest)}, to.aperture);
}

void read(const Value &value, std::vector<std::uint32_t> &to) {
    to.clear();
    if (value.unknown())
        return;
    if (value.text.ends_with(','))
        return value.fail("a list");
    for (std::string_view rest = value.text; !rest.empty() && !value.scanner.failed();)
        read({value.scanner, value.key, take_until(rest, ',')}, to.emplace_back());
}

void read_us(const Value &value, std::uint64_t &ns) {
    constexpr std::size_t decimals = 3;
    std::string_view fraction = value.text;
    const auto us = number(take_until(fraction, '.'));
    std::string digits(fraction.substr(0, decimals + 1));
    digits.resize(std::max(digits.size(), decimals), '0');
    const auto rest = number(digits);
    if (!us || *us > std::numeric_limits<std::uint64_t>::max() / 1000 - 1 || !rest ||
        digits.size() > decimals || digits.starts_with("0x"))
        return value.fail("a time in microseconds");
    ns = *us * 1000 + *rest;
}

namespace {

/// Returns whether the line is a border: dashes between two corners.
bool is_border(std::string_view line) {
    return line.size() > 2 && line.front() == '+' && line.back() == '+' &&
           line.substr(1, line.size() - 2).find_first_not_of('-') == line.npos;
}

} // namespace

bool open_box(Scanner &scanner, BoxTitle &title) {
    std::string_view line;
    if (!scanner.next(line))
        return false;
    title.indent = std::min(line.find_first_not_of(' '), line.size());
    const std::string_view edge = line.substr(title.indent);
    const std::size_t first = edge.find(' ');
    const std::size_t last = edge.rfind(' ');
    if (first == edge.npos || last <= first + 1 || edge.front() != '+' || edge.back() != '+' ||
        edge.substr(1, first - 1).find_first_not_of('-') != edge.npos) {
        scanner.fail("'" + quote(line) + "' opens no box");
        return false;
    }
    title.text = edge.substr(first + 1, last - first - 1);
    return true;
}

bool next_in_box(Scanner &scanner, const BoxTitle &title, std::string_view &key,
                 std::string_view &value) {
    std::string_view line;
    if (!scanner.next(line)) {
        scanner.fail("the text ends in the middle of the box '" + quote(title.text) + "'");
        return false;
    }
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    std::string_view inside = line.substr(indent);
    if (indent == title.indent && is_border(inside))
        return false;
    const std::size_t colon = inside.find(':');
    if (indent != title.indent || !inside.starts_with("| ") || !inside.ends_with(" |") ||
        colon == inside.npos) {
        scanner.fail("'" + quote(line) + "' is no '| Key: value |'");
        return false;
    }
    key = inside.substr(2, colon - 2);
    value = trim(inside.substr(colon + 1, inside.size() - colon - 3));
    return true;
}

} // namespace nvdebug::text
