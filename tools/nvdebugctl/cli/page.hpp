// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The forms for a person, text and table, and CSV for programs.
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
    /// @param width columns of the terminal, for tables; empty: they are as wide as they are
    explicit Page(bool color, std::optional<std::size_t> width = std::nullopt)
        : color_(color), width_(width) {}

    const std::optional<std::size_t> &width() const { return width_; }

    [[nodiscard]] std::string bold(std::string_view text) const;
    [[nodiscard]] std::string dim(std::string_view text) const;
    /// Something a person should look at.
    [[nodiscard]] std::string warning(std::string_view text) const;

    /// Adds a line. What neither this page's styles nor text is (printable.hpp) is shown replaced.
    /// Where the width is known, a longer line is broken at words; lines after the first are
    /// indented by @p hang columns more than the first one.
    void line(std::string_view text, std::size_t hang = 2);
    /// Adds a line as it is: of a table, whose columns stand below each other.
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

/// `timeslice` of `timeslice_us`.
[[nodiscard]] std::string_view name_without_unit(std::string_view key);

/// The heading of the column in tables: `EXPECTED_SHARE`.
[[nodiscard]] std::string heading_of(const Column &column);

/// Every key of @p data on a line of its own, `key: value`; what is nested, below and indented.
void print_fields(const Json &data, Page &page, int indent = 0);

/// Columns as wide as their widest value. Where that is wider than the page, headings are broken at
/// `_` and cells at `,`; if that is not enough, the last columns are left out and named.
/// @param widths least widths, which grow: for more rows of the same table; nullptr: none
/// @param known columns that may have a heading of their own
void print_table(const Json &rows, const std::vector<std::string> &columns, bool header, Page &page,
                 std::vector<std::size_t> *widths = nullptr, const std::vector<Column> &known = {});

/// RFC 4180, but lines end in a newline alone, and what is not printable is replaced. null is
/// empty, an array's elements have a blank between them.
[[nodiscard]] std::string to_csv(const Json &rows, const std::vector<std::string> &columns,
                                 bool header);

// The text form of a value: the unit is in its key.

/// `page_size_bytes` as people read it: `page size`.
[[nodiscard]] std::string label(std::string_view key);
/// `31.2%`, `<0.1%`, `0%`.
[[nodiscard]] std::string shown_percent(double percent);
/// `python3[4711]`, and where it is: shown_home().
[[nodiscard]] std::string shown_process(const Json &process);
/// `python3[4711], python3[4712]`; empty: none.
[[nodiscard]] std::string shown_processes(const std::vector<nvdebug::Process> &processes);
/// ` in 0123456789ab` (a container), ` in pod 01234567-89a` or ` in job 17.0`; empty: in none.
/// @param process what has the keys of an identity
[[nodiscard]] std::string shown_home(const Json &process);
/// `2.00ms`, `40GiB`, `yes`, `TSG 10`, `idle`, `0-7,9`, `-` for null; the elements of an array
/// with `,` between.
[[nodiscard]] std::string shown(std::string_view key, const Json &value);

} // namespace nvdebugctl
