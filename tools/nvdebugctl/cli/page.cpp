// SPDX-License-Identifier: MIT OR GPL-2.0
#include "page.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "json.hpp"
#include "lib/base/quantity.hpp"
#include "text.hpp"

namespace nvdebugctl {

namespace {

struct ShownUnit {
    std::string_view suffix;
    std::string (*show)(const Json &value);
};

std::string number(const Json &value) {
    return value.is_number_float() ? fmt::format("{}", value.get<double>()) : value.dump();
}

std::string bytes(const Json &value) {
    static constexpr std::array prefixes = {"B", "KiB", "MiB", "GiB", "TiB"};
    auto amount = value.get<std::uint64_t>();
    std::size_t prefix = 0;
    while (amount >= 1024 && amount % 1024 == 0 && prefix + 1 < prefixes.size()) {
        amount /= 1024;
        prefix++;
    }
    return fmt::format("{}{}", amount, prefixes[prefix]);
}

std::string time(const Json &value, double unit_ns) {
    return nvdebug::base::short_time(std::llround(value.get<double>() * unit_ns));
}

constexpr std::array units = {
    ShownUnit{"_us", [](const Json &value) { return time(value, 1000); }},
    ShownUnit{"_ns", [](const Json &value) { return time(value, 1); }},
    ShownUnit{"_bytes", bytes},
    ShownUnit{"_percent", [](const Json &value) { return shown_percent(value.get<double>()); }},
};

const ShownUnit *unit_of(std::string_view key) {
    for (const ShownUnit &unit : units)
        if (key.ends_with(unit.suffix))
            return &unit;
    return nullptr;
}

} // namespace

std::string shown_percent(double percent) {
    if (percent == 0)
        return "0%";
    return percent < 0.05 ? "<0.1%" : fmt::format("{:.1f}%", percent);
}

std::string_view name_without_unit(std::string_view key) {
    const ShownUnit *const unit = unit_of(key);
    return unit ? key.substr(0, key.size() - unit->suffix.size()) : key;
}

std::string label(std::string_view key) {
    std::string text(name_without_unit(key));
    std::ranges::replace(text, '_', ' ');
    return text;
}

namespace {

/// Returns a word of the hardware or of JSON as people read it.
std::string in_words(std::string_view key, const std::string &word) {
    if (key == "status" && word == "invalid")
        return "idle";
    for (const auto &[prefix, noun] :
         {std::pair{"tsg:", "TSG "}, std::pair{"channel:", "channel "}})
        if (word.starts_with(prefix))
            return noun + word.substr(std::string_view(prefix).size());
    return word;
}

bool is_ids(const Json &value) {
    return value.size() > 1 &&
           std::ranges::all_of(value, [](const Json &id) { return id.is_number_unsigned(); });
}

/// `0-7,9`
std::string ids(const Json &value) {
    std::string text = fold_ids(value.get<std::vector<std::uint32_t>>());
    std::erase(text, ' ');
    return text;
}

bool is_process(const Json &value) {
    return value.is_object() && value.contains("pid") && value.contains("command");
}

/// Returns for example `python3[4711]`.
std::string name_of_process(const Json &process) {
    const Json &command = process["command"];
    return fmt::format("{}[{}]", command.is_null() ? "" : command.get<std::string>(),
                       process["pid"].dump());
}

} // namespace

std::string shown_process(const Json &process) {
    return printable(name_of_process(process) + shown_home(process));
}

std::string shown_processes(const std::vector<nvdebug::Process> &processes) {
    std::string text;
    for (const nvdebug::Process &each : processes)
        text += (text.empty() ? "" : ", ") + shown_process(process(&each));
    return text;
}

std::string shown_home(const Json &process) {
    // Docker shortens ids to so many digits.
    constexpr std::size_t digits = 12;
    const auto text = [&](const char *key) {
        return process[key].is_null() ? std::string() : process[key].get<std::string>();
    };
    if (process.contains("pod_name") && !process["pod_name"].is_null())
        return " in " + text("namespace") + "/" + text("pod_name");
    if (const std::string container = text("container"); !container.empty())
        return " in " + container.substr(0, digits);
    if (const std::string pod = text("pod"); !pod.empty())
        return " in pod " + pod.substr(0, digits);
    if (const std::string job = text("job"), step = text("step"); !job.empty())
        return " in job " + job + (step.empty() ? "" : "." + step);
    return "";
}

namespace {

bool is_gpu_task(const Json &value) {
    return value.is_object() && value.contains("expected_share_percent");
}

/// Returns `train[4711]`, `a[1]+b[2]` for processes that share TSGs, or the name of the TSG.
template <typename Name>
std::string name_of_task(const Json &task, Name name) {
    std::string text;
    for (const Json &one : task[task["processes"].empty() ? "tsgs" : "processes"])
        text += (text.empty() ? "" : "+") + name(one);
    return text;
}

std::string shown_task(const Json &task) {
    const Json &share = task["expected_share_percent"];
    const auto name = [](const Json &one) {
        return is_process(one) ? shown_process(one) : one.get<std::string>();
    };
    return name_of_task(task, name) +
           (share.is_null() ? "" : " " + shown_percent(share.get<double>()));
}

} // namespace

std::string shown(std::string_view key, const Json &value) {
    if (value.is_null())
        return "-";
    if (is_process(value))
        return shown_process(value);
    if (is_gpu_task(value))
        return shown_task(value);
    if (value.is_boolean() && key == "scheduling")
        return value.get<bool>() ? "on" : "off";
    if (value.is_boolean())
        return value.get<bool>() ? "yes" : "no";
    if (value.is_string())
        return printable(in_words(key, value.get<std::string>()));
    if (value.is_array() && is_ids(value) && !unit_of(key))
        return ids(value);
    if (value.is_array()) {
        std::string text;
        for (const Json &element : value)
            text += (text.empty() ? "" : ",") + shown(key, element);
        return text.empty() ? "-" : text;
    }
    const ShownUnit *const unit = unit_of(key);
    return unit ? unit->show(value) : number(value);
}

namespace {

constexpr std::string_view bold_style = "\033[1m", dim_style = "\033[2m",
                           warning_style = "\033[31m", reset = "\033[0m";
constexpr std::array styles = {bold_style, dim_style, warning_style, reset};

bool is_place(const Json &value) {
    return value.is_object() && value.size() == 2 && value.contains("address") &&
           value.contains("aperture");
}

/// Counts characters. Styles have no width.
std::size_t visible_width(std::string_view text) {
    std::size_t width = 0;
    for (std::size_t at = 0; at < text.size(); at++) {
        if (text[at] == '\033')
            at = std::min(text.find('m', at), text.size() - 1);
        else
            width += (static_cast<unsigned char>(text[at]) & 0xc0) != 0x80;
    }
    return width;
}

bool is_list_of_objects(const Json &value) {
    return value.is_array() && !value.empty() && value.front().is_object();
}

} // namespace

std::string Page::bold(std::string_view text) const {
    return styled(bold_style, text);
}

std::string Page::dim(std::string_view text) const {
    return styled(dim_style, text);
}

std::string Page::warning(std::string_view text) const {
    return styled(warning_style, text);
}

std::string Page::styled(std::string_view style, std::string_view text) const {
    return color_ ? fmt::format("{}{}{}", style, printable(text), reset) : std::string(text);
}

/// Replaces all characters that are neither text nor one of this page's styles.
std::string Page::shown_line(std::string_view text) const {
    std::string shown;
    while (!text.empty()) {
        const auto style = std::ranges::find_if(
            styles, [&](std::string_view each) { return color_ && text.starts_with(each); });
        const std::string_view part =
            style != styles.end() ? *style : text.substr(0, text.find('\033', 1));
        shown += style != styles.end() ? std::string(part) : printable(part);
        text.remove_prefix(part.size());
    }
    return shown;
}

/// Breaks a line at the last blank before the width. A longer word stays whole. Styles have no
/// width, and continue in the next line.
std::string Page::broken(std::string_view text, std::size_t hang) const {
    const std::size_t indent = std::min(text.find_first_not_of(' '), text.size()) + hang;
    std::string lines;
    std::size_t column = 0, blank = text.npos; // column in the present line; last blank of the line
    for (std::size_t at = 0; at < text.size(); at++) {
        if (text[at] == '\033') {
            const std::size_t end = std::min(text.find('m', at), text.size() - 1);
            lines += text.substr(at, end + 1 - at);
            at = end;
            continue;
        }
        if (text[at] == ' ' && column > indent)
            blank = lines.size();
        lines += text[at];
        if ((static_cast<unsigned char>(text[at]) & 0xc0) == 0x80)
            continue; // within a character
        column++;
        if (column <= *width_ || blank == text.npos || text[at] == ' ')
            continue;
        std::string rest = lines.substr(blank);
        rest.erase(0, rest.find_first_not_of(' '));
        lines.erase(lines.find_last_not_of(' ', blank) + 1);
        lines += '\n' + std::string(indent, ' ') + rest;
        column = indent + visible_width(rest);
        blank = text.npos;
    }
    return lines;
}

void Page::line(std::string_view text, std::size_t hang) {
    const std::string shown = shown_line(text);
    text_ += width_ && visible_width(shown) > *width_ ? broken(shown, hang) : shown;
    text_ += '\n';
}

void Page::row(std::string_view text) {
    text_ += shown_line(text) + '\n';
}

void print_fields(const Json &data, Page &page, int indent) {
    for (const auto &[key, value] : data.items()) {
        const std::string name = fmt::format("{:{}}{}:", "", indent, page.bold(label(key)));
        if (is_place(value)) {
            page.line(fmt::format("{} {} {}", name, shown(key, value["address"]),
                                  shown(key, value["aperture"])));
        } else if (value.is_object()) {
            page.line(name);
            print_fields(value, page, indent + 2);
        } else if (is_list_of_objects(value)) {
            page.line(name);
            for (std::size_t i = 0; i < value.size(); i++) {
                if (i > 0)
                    page.line("");
                print_fields(value[i], page, indent + 2);
            }
        } else {
            page.line(fmt::format("{} {}", name, shown(key, value)));
        }
    }
}

namespace {

std::string heading(const std::string &column) {
    std::string text(name_without_unit(column));
    std::ranges::transform(text, text.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    return text;
}

/// Splits a heading or a cell into the parts that stay whole. Each part ends with the @p separator.
std::vector<std::string> parts_of(const std::string &text, char separator) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        parts.back() += c;
        if (c == separator)
            parts.emplace_back();
    }
    return parts;
}

/// Arranges the parts in lines of @p width. A longer part has a line of its own.
std::vector<std::string> broken(const std::string &text, char separator, std::size_t width) {
    std::vector<std::string> lines;
    for (const std::string &part : parts_of(text, separator)) {
        // A heading loses its `_` at a line break.
        const std::size_t needed = part.size() - (part.ends_with('_') ? 1 : 0);
        if (!lines.empty() && lines.back().size() + needed <= width) {
            lines.back() += part;
            continue;
        }
        if (!lines.empty() && lines.back().ends_with('_'))
            lines.back().pop_back();
        lines.push_back(part);
    }
    return lines;
}

constexpr std::string_view gap = "  ";

class Table {
  public:
    using Row = std::vector<std::string>;

    Table(std::vector<Row> rows, bool header, std::vector<std::size_t> widths)
        : rows_(std::move(rows)), header_(header), widths_(std::move(widths)),
          least_(widths_.size()) {
        for (std::size_t r = 0; r < rows_.size(); r++)
            for (std::size_t i = 0; i < widths_.size(); i++) {
                widths_[i] = std::max(widths_[i], rows_[r][i].size());
                for (const std::string &line : broken(rows_[r][i], separator(r), 0))
                    least_[i] = std::max(least_[i], line.size());
            }
    }

    const std::vector<std::size_t> &widths() const { return widths_; }

    /// Fits a table with a header into @p width: leaves out the last columns, then narrows the
    /// widest ones.
    /// @return the headings of the columns that are left out
    Row fit(std::size_t width) {
        Row left_out;
        while (least_.size() > 1 && total(least_) > width) {
            left_out.insert(left_out.begin(), rows_[0].back());
            least_.pop_back();
            widths_.pop_back();
            for (Row &row : rows_)
                row.pop_back();
        }
        // Narrow the widest column, as long as one is left that can be narrowed.
        while (total(widths_) > width) {
            std::size_t widest = widths_.size();
            for (std::size_t i = 0; i < widths_.size(); i++)
                if (widths_[i] > least_[i] &&
                    (widest == widths_.size() || widths_[i] > widths_[widest]))
                    widest = i;
            if (widest == widths_.size())
                break;
            widths_[widest]--;
        }
        return left_out;
    }

    void print(Page &page) const {
        for (std::size_t r = 0; r < rows_.size(); r++) {
            std::vector<Row> cells;
            std::size_t lines = 1;
            for (std::size_t i = 0; i < widths_.size(); i++) {
                cells.push_back(broken(rows_[r][i], separator(r), widths_[i]));
                lines = std::max(lines, cells.back().size());
            }
            for (std::size_t n = 0; n < lines; n++) {
                std::string line;
                for (std::size_t i = 0; i < cells.size(); i++) {
                    const std::string cell = n < cells[i].size() ? cells[i][n] : "";
                    line += i + 1 == cells.size() ? cell
                                                  : fmt::format("{:<{}}{}", cell, widths_[i], gap);
                }
                if (n > 0)
                    line.resize(line.find_last_not_of(' ') + 1);
                page.row(is_header(r) ? page.bold(line) : line);
            }
        }
    }

  private:
    bool is_header(std::size_t row) const { return header_ && row == 0; }
    char separator(std::size_t row) const { return is_header(row) ? '_' : ','; }
    static std::size_t total(const std::vector<std::size_t> &widths) {
        std::size_t sum = (widths.size() - 1) * gap.size();
        for (const std::size_t width : widths)
            sum += width;
        return sum;
    }

    std::vector<Row> rows_;
    bool header_;
    std::vector<std::size_t> widths_, least_;
};

} // namespace

std::string heading_of(const Column &column) {
    return heading(column.heading.empty() ? column.name : column.heading);
}

void print_table(const Json &rows, const std::vector<std::string> &columns, bool header, Page &page,
                 std::vector<std::size_t> *known_widths, const std::vector<Column> &known) {
    std::vector<Table::Row> cells;
    if (header) {
        cells.emplace_back();
        for (const std::string &column : columns) {
            const auto own = std::ranges::find(known, column, &Column::name);
            cells.back().push_back(own == known.end() ? heading(column) : heading_of(*own));
        }
    }
    for (const Json &row : rows) {
        cells.emplace_back();
        for (const std::string &column : columns)
            cells.back().push_back(shown(column, row.at(column)));
    }
    std::vector<std::size_t> widths = known_widths ? *known_widths : std::vector<std::size_t>();
    widths.resize(columns.size());
    Table table(std::move(cells), header, std::move(widths));
    if (known_widths)
        *known_widths = table.widths();
    const Table::Row left_out = page.width() ? table.fit(*page.width()) : Table::Row();
    table.print(page);
    if (!left_out.empty())
        page.line(page.dim(fmt::format(
                      "This terminal is too narrow for {}. A wider one shows all; so does a pipe.",
                      fmt::join(left_out, ", "))),
                  0);
}

namespace {

std::string plain(const Json &value) {
    if (value.is_null())
        return "";
    if (value.is_string())
        return value.get<std::string>();
    if (is_process(value))
        return name_of_process(value);
    if (is_gpu_task(value))
        return name_of_task(value, plain) + "=" + plain(value["expected_share_percent"]);
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
