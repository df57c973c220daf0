// SPDX-License-Identifier: MIT OR GPL-2.0
#include "printable.hpp"
#include "table.hpp"

namespace nvdebugctl {
namespace {

std::string plain(const Json &value) {
    if (value.is_null())
        return "";
    if (value.is_string())
        return value.get<std::string>();
    if (!value.is_array())
        return value.dump();
    std::string text;
    for (const Json &element : value)
        text += (text.empty() ? "" : " ") + plain(element);
    return text;
}

std::string quoted(const std::string &text) {
    if (text.find_first_of(",\"") == std::string::npos)
        return text;
    std::string result = "\"";
    for (const char c : text)
        result += c == '"' ? std::string("\"\"") : std::string(1, c);
    return result + '"';
}

} // namespace

std::string to_csv(const Json &rows, const std::vector<std::string> &columns, bool header) {
    std::string text;
    const auto line = [&](auto &&cell) {
        for (std::size_t i = 0; i < columns.size(); i++)
            text += (i ? "," : "") + quoted(printable(cell(columns[i])));
        text += '\n';
    };
    if (header)
        line([](const std::string &column) { return column; });
    for (const Json &row : rows)
        line([&](const std::string &column) { return plain(row.at(column)); });
    return text;
}

} // namespace nvdebugctl
