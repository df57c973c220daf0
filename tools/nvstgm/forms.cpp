// SPDX-License-Identifier: MIT OR GPL-2.0
#include "forms.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <unistd.h>
#include <utility>

#include "lib/base/exit_status.hpp"
#include "lib/base/output_file.hpp"
#include "lib/base/words.hpp"
#include "lib/cli/fitted_table.hpp"
#include "lib/cli/message.hpp"

namespace nvstgm {
namespace {

using nvdebug::base::exit_status::of_file;

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

std::string sentence(const std::string &text, int descriptor) {
    return nvdebug::cli::paragraph(text, descriptor);
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
        return fail(of_file(error), path + " cannot be written: " + std::strerror(error));
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
    return fail(of_file(number), path + " cannot be written: " + std::strerror(number));
}

Answer<void> are_other_files(const Arguments &arguments, const std::vector<std::string> &options,
                             std::vector<std::string> read) {
    for (const std::string &option : options) {
        if (!arguments.has(option))
            continue;
        const std::string path = arguments.text(option);
        for (const std::string &other : read)
            if (const auto why = nvdebug::base::why_not_write(option, path, other))
                return fail(*why);
        if (path != "-")
            read.push_back(path);
    }
    return {};
}

Answer<void> knows_suffix(const Arguments &arguments, const std::string &option,
                          const std::vector<std::string> &suffixes, const std::string &known) {
    const std::string path = arguments.text(option, "-");
    const std::string suffix = std::filesystem::path(path).extension().string();
    if (suffix.empty() || std::ranges::count(suffixes, suffix))
        return {};
    return fail(option + " " + printable(path) + ": there is no form for '" + printable(suffix) +
                "'" + nvdebug::base::guess(suffix, suffixes) + "; write " + known);
}

std::string document(const std::string &schema, Json data, const std::string &version) {
    const Json whole{
        {"schema", "nvstgm/" + schema}, {"schema_version", version}, {"data", std::move(data)}};
    return whole.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string table(const std::vector<Column> &columns, const Json &rows, int descriptor) {
    namespace cli = nvdebug::cli;
    std::vector<cli::Column> titles;
    for (const Column &column : columns)
        titles.push_back({column.title, column.left, column.importance});
    std::vector<cli::Row> cells;
    for (const Json &row : rows) {
        auto &line = cells.emplace_back();
        for (const Column &column : columns) {
            const std::string text = printable(text_of(cell_of(row, column.key)));
            line.push_back(text.empty() ? "-" : text);
        }
    }
    const cli::Table table = cli::fitted(titles, std::move(cells), cli::terminal_width(descriptor));
    std::string shown;
    for (const std::string &line : table.lines)
        shown += line + "\n";
    return table.note.empty() ? shown : shown + sentence(table.note, descriptor);
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
