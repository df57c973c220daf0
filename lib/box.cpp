// SPDX-License-Identifier: MIT OR GPL-2.0
#include "box.hpp"

#include <algorithm>

namespace nvdebug::text {
namespace {

/** Is it the dashes between two corners? */
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
