// SPDX-License-Identifier: MIT OR GPL-2.0
#include "forms.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <unistd.h>
#include <utility>

#include "lib/base/output_file.hpp"
#include "lib/cli/message.hpp"

namespace nvstgm {
namespace {

const Json &cell_of(const Json &row, const std::string &key) {
    static const Json none;
    const Json::json_pointer pointer(key.starts_with('/') ? key : "/" + key);
    return row.contains(pointer) ? row.at(pointer) : none;
}

std::string text_of(const Json &cell) {
    if (cell.is_null())
        return "";
    if (cell.is_string())
        return cell.get<std::string>();
    if (cell.is_array()) {
        std::string all;
        for (const Json &item : cell)
            all += (all.empty() ? "" : ",") + item.dump();
        return all;
    }
    return cell.dump();
}

/// Returns the exit status for the errno of a file that was named.
Exit status_of(int number) {
    switch (number) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case ENAMETOOLONG:
    case ELOOP:
        return bad_usage;
    case EACCES:
    case EPERM:
    case EROFS:
        return refused;
    default:
        return failed;
    }
}

/// Returns the width in columns of a terminal, for UTF-8 text whose characters have one column
/// each.
std::size_t width_of(const std::string &text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

} // namespace

std::string list_of(std::span<const std::uint32_t> numbers) {
    std::string text;
    for (std::size_t n = 0; n < numbers.size();) {
        std::size_t last = n;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1)
            last++;
        text += (n ? "," : "") + std::to_string(numbers[n]) +
                (last > n ? "-" + std::to_string(numbers[last]) : "");
        n = last + 1;
    }
    return text;
}

std::string sentence(const std::string &text) {
    return nvdebug::cli::paragraph(text, STDOUT_FILENO);
}

Answer<void> write(const std::string &text) {
    if (const int error = nvdebug::cli::write_out(text))
        return fail(failed, std::string("cannot write to stdout: ") + std::strerror(error));
    return {};
}

Answer<void> write_file(const std::string &path, const std::string &text) {
    if (path == "-")
        return write(text);
    if (const int error = nvdebug::base::write_file(path, text))
        return fail(status_of(error), path + " cannot be written: " + std::strerror(error));
    return {};
}

Answer<void> can_write(const std::string &path) {
    std::error_code error;
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    const bool replaces =
        !std::filesystem::exists(path, error) || std::filesystem::is_regular_file(path, error);
    const std::string asked = replaces ? (folder.empty() ? "." : folder.string()) : path;
    if (path == "-" ||
        (!access(asked.c_str(), W_OK) && !std::filesystem::is_directory(path, error)))
        return {};
    const int number = std::filesystem::is_directory(path, error) ? EISDIR : errno;
    return fail(status_of(number), path + " cannot be written: " + std::strerror(number));
}

std::string document(const std::string &schema, Json data, const std::string &version) {
    const Json whole{
        {"schema", "nvstgm/" + schema}, {"schema_version", version}, {"data", std::move(data)}};
    return whole.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string table(const std::vector<Column> &columns, const Json &rows) {
    std::vector<std::vector<std::string>> lines(1);
    for (const Column &column : columns)
        lines[0].push_back(column.title);
    for (const Json &row : rows) {
        auto &line = lines.emplace_back();
        for (const Column &column : columns) {
            const std::string text = printable(text_of(cell_of(row, column.key)));
            line.push_back(text.empty() ? "-" : text);
        }
    }
    std::string shown;
    for (const auto &line : lines) {
        std::string text;
        for (std::size_t n = 0; n < columns.size(); n++) {
            std::size_t width = 0;
            for (const auto &other : lines)
                width = std::max(width, width_of(other[n]));
            const std::string blanks(width - width_of(line[n]), ' ');
            text += (n ? "  " : "") + (columns[n].left ? line[n] + blanks : blanks + line[n]);
        }
        text.erase(text.find_last_not_of(' ') + 1);
        shown += text + "\n";
    }
    return shown;
}

std::string csv(const std::vector<Column> &columns, const Json &rows) {
    std::string shown;
    for (const Column &column : columns) {
        std::string name = column.key;
        name.erase(0, name.starts_with('/'));
        std::ranges::replace(name, '/', '_');
        shown += (shown.empty() ? "" : ",") + name;
    }
    shown += "\n";
    for (const Json &row : rows) {
        std::string line;
        for (std::size_t n = 0; n < columns.size(); n++) {
            std::string text = text_of(cell_of(row, columns[n].key));
            if (text.find_first_of(",\"\n\r") != text.npos) {
                std::string quoted = "\"";
                for (const char c : text)
                    quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
                text = quoted + "\"";
            }
            line += (n ? "," : "") + text;
        }
        shown += line + "\n";
    }
    return shown;
}

} // namespace nvstgm
