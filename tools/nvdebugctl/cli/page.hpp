// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Makes text and tables for people, and CSV for programs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "nvdebug/owner.hpp"

namespace nvdebugctl {

class Page {
  public:
    /// @param width columns of the terminal, for tables; empty: tables may have any width
    explicit Page(bool color, std::optional<std::size_t> width = std::nullopt)
        : color_(color), width_(width) {}

    const std::optional<std::size_t> &width() const { return width_; }

    [[nodiscard]] std::string bold(std::string_view text) const;
    [[nodiscard]] std::string dim(std::string_view text) const;
    /// Marks text that a person should look at.
    [[nodiscard]] std::string warning(std::string_view text) const;

    /// Adds a line. Characters that are neither text nor this page's styles are replaced
    /// (printable.hpp). If the width is known, a longer line is broken at words. Lines after the
    /// first are indented by @p hang columns more than the first one.
    void line(std::string_view text, std::size_t hang = 2);
    /// Adds a line without breaking it, for example a table row, whose columns must stay aligned.
    void row(std::string_view text);
    const std::string &text() const { return text_; }

  private:
    [[nodiscard]] std::string broken(std::string_view text, std::size_t hang) const;
    [[nodiscard]] std::string shown_line(std::string_view text) const;
    [[nodiscard]] std::string styled(std::string_view style, std::string_view text) const;

    bool color_;
    std::optional<std::size_t> width_;
    std::string text_;
};

/// Returns for example `timeslice` for `timeslice_us`.
[[nodiscard]] std::string_view name_without_unit(std::string_view key);

/// Returns the heading of the column in tables: `EXPECTED_SHARE`.
[[nodiscard]] std::string heading_of(const Column &column);

/// Prints every key of @p data on a line of its own, `key: value`. Nested data follows below its
/// key, indented.
void print_fields(const Json &data, Page &page, int indent = 0);

/// Prints a table. A column is as wide as its widest value. If the table is wider than the page,
/// headings are broken at `_` and cells at `,`. If that is not enough, the last columns are left
/// out and named below.
/// @param widths least widths, which grow, so that more rows of the same table can follow; nullptr:
/// none
/// @param known columns that may have a heading of their own
void print_table(const Json &rows, const std::vector<std::string> &columns, bool header, Page &page,
                 std::vector<std::size_t> *widths = nullptr, const std::vector<Column> &known = {});

/// Makes CSV by RFC 4180, except that lines end in a newline alone. Characters that are not
/// printable are replaced. null becomes an empty field, and the elements of an array are separated
/// by blanks.
[[nodiscard]] std::string to_csv(const Json &rows, const std::vector<std::string> &columns,
                                 bool header);

// These functions show a value as text. The value's key names its unit.

/// Returns a key as people read it: `page size` for `page_size_bytes`.
[[nodiscard]] std::string label(std::string_view key);
/// Returns for example `31.2%`, `<0.1%` or `0%`.
[[nodiscard]] std::string shown_percent(double percent);
/// Returns `python3[4711]` and the process's home (shown_home()).
[[nodiscard]] std::string shown_process(const Json &process);
/// Returns `python3[4711], python3[4712]`; empty: no process.
[[nodiscard]] std::string shown_processes(const std::vector<nvdebug::Process> &processes);
/// Returns ` in team-a/vllm-0` (a pod with a known name), ` in 0123456789ab` (a container),
/// ` in pod 01234567-89a` or ` in job 17.0`; empty: the process is in none.
/// @param process data with the keys of an identity
[[nodiscard]] std::string shown_home(const Json &process);
/// Returns a value as text: `2.00ms`, `40GiB`, `yes`, `TSG 10`, `idle`, `0-7,9`, or `-` for
/// null. The elements of an array have `,` between them.
[[nodiscard]] std::string shown(std::string_view key, const Json &value);

} // namespace nvdebugctl
