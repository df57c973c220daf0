// SPDX-License-Identifier: MIT OR GPL-2.0
// Scans the text of /proc files: lines, values, boxes, and tables that map keys to members. The
// text may be hostile, so every access is bounded by the view, and no function recurses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nvdebug/error.hpp"
#include "nvdebug/memory.hpp"

namespace nvdebug::text {

std::string_view trim(std::string_view text);

/// Removes the text before the first @p separator from @p rest and returns it. Without a separator
/// it takes all of @p rest.
std::string_view take_until(std::string_view &rest, char separator);

/// Removes the first word from @p rest and returns it; empty: there is no word. Words are separated
/// by blanks.
std::string_view take_word(std::string_view &rest);

/// Removes @p prefix from @p rest if @p rest begins with it. Returns whether it did.
bool take_prefix(std::string_view &rest, std::string_view prefix);

/// Returns the number, decimal or `0x…`, that is the whole of @p text.
std::optional<std::uint64_t> number(std::string_view text);

/// Returns @p text with each character replaced that must not stand in a sentence.
std::string printable(std::string_view text);

/// Returns printable() text, shortened for a sentence.
std::string quote(std::string_view text);

/// Returns whether the texts differ at most in the case of ASCII letters.
bool same_in_any_case(std::string_view a, std::string_view b);

/// Iterates over the lines of a text and remembers the first error.
class Scanner {
  public:
    explicit Scanner(std::string_view text) : rest_(text) {}

    /// Gets the next line without its newline. Returns false at the end, and after an error.
    bool next(std::string_view &line);

    /// Records @p what as the error of the current line, unless an error was recorded before.
    void fail(const std::string &what);
    bool failed() const { return error_.has_value(); }

    template <typename T>
    Result<T> finish(T value) {
        if (error_)
            return tl::unexpected(std::move(*error_));
        return value;
    }

  private:
    std::string_view rest_;
    std::size_t line_ = 0;
    std::optional<Error> error_;
};

/// A value of a file: its name in the file, and its text without blanks around it.
struct Value {
    Scanner &scanner;
    std::string_view key, text;

    /// Returns whether the value is `-` (unknown or absent) or `hidden` (from this reader).
    bool unknown() const { return text == "-" || text == "hidden"; }
    /// Records the error that the value is not @p what.
    void fail(std::string_view what) const;
};

void read(const Value &value, bool &to);
void read(const Value &value, std::uint32_t &to);
void read(const Value &value, std::uint64_t &to);
void read(const Value &value, std::string &to);
void read(const Value &value, Aperture &to);
/// Reads an address and an aperture with a blank between them.
void read(const Value &value, Place &to);
/// Reads numbers that commas separate; `-` is an empty list.
void read(const Value &value, std::vector<std::uint32_t> &to);
template <typename T>
void read(const Value &value, std::optional<T> &to) {
    if (value.unknown())
        to.reset();
    else
        read(value, to.emplace());
}

/// Reads microseconds with up to three decimals.
void read_us(const Value &value, std::uint64_t &ns);

/// A key of a record, or a column of a table, and the function that stores its value.
template <typename T>
struct Key {
    std::string_view name;
    void (*set)(const Value &value, T &to);
    bool required = true;

    constexpr Key optional() const { return {name, set, false}; }
};

template <typename T>
struct MemberOf;
template <typename C, typename M>
struct MemberOf<M C::*> {
    using Class = C;
};

/// Returns the key that stores its value in a member, or in a member of a member.
template <auto First, auto... More>
constexpr auto key(std::string_view name) {
    using T = typename MemberOf<decltype(First)>::Class;
    return Key<T>{name, [](const Value &value, T &to) { read(value, ((to.*First).*....*More)); }};
}

/// Fills in a record key by key, and remembers which keys the text had.
template <typename T>
class Record {
  public:
    Record(std::span<const Key<T>> keys, T &to) : keys_(keys), to_(to) {}

    /// Stores a value. Returns false if the table has no such key.
    bool set(const Value &value) {
        // Keys mostly come in the order of the table.
        for (std::size_t n = 0; n < keys_.size(); n++) {
            const std::size_t at = (expected_ + n) % keys_.size();
            if (keys_[at].name != value.key)
                continue;
            if (seen_ >> at & 1)
                value.scanner.fail("'" + quote(value.key) + "' is there twice");
            seen_ |= std::uint64_t{1} << at;
            expected_ = at + 1;
            keys_[at].set(value, to_);
            return true;
        }
        return false;
    }

    void require_all(Scanner &scanner) const {
        for (std::size_t at = 0; at < keys_.size(); at++)
            if (keys_[at].required && !(seen_ >> at & 1))
                return scanner.fail("'" + std::string(keys_[at].name) + "' is missing");
    }

  private:
    std::span<const Key<T>> keys_;
    T &to_;
    std::size_t expected_ = 0;
    std::uint64_t seen_ = 0; // tables have fewer than 64 keys
};

/// Parses a text of `key: value` lines. @p other is called for the keys that the table lacks.
template <typename T, typename Other>
Result<T> parse_record(std::string_view text, std::span<const Key<T>> keys, Other other) {
    Scanner scanner(text);
    T to{};
    Record<T> record(keys, to);
    for (std::string_view line; scanner.next(line);) {
        const std::size_t colon = line.find(':');
        if (colon == line.npos) {
            scanner.fail("'" + quote(line) + "' is no 'key: value'");
            break;
        }
        const Value value{scanner, line.substr(0, colon), trim(line.substr(colon + 1))};
        if (!record.set(value))
            other(value, to);
    }
    record.require_all(scanner);
    return scanner.finish(std::move(to));
}

template <typename T>
Result<T> parse_record(std::string_view text, std::span<const Key<T>> keys) {
    return parse_record<T>(text, keys, [](const Value &, T &) {});
}

/// Parses a text of lines with the table's columns, under a header line that names them.
template <typename T>
Result<std::vector<T>> parse_table(std::string_view text, std::span<const Key<T>> columns,
                                   std::span<const Key<T>> later = {}) {
    Scanner scanner(text);
    std::vector<T> rows;
    std::string_view line;
    if (!scanner.next(line) || take_word(line) != "#")
        scanner.fail("there is no header that begins with '#'");
    for (const Key<T> &column : columns)
        if (take_word(line) != column.name)
            scanner.fail("the header has no column '" + std::string(column.name) +
                         "' where it should be");
    std::vector<Key<T>> present(columns.begin(), columns.end());
    for (const Key<T> &column : later)
        if (take_word(line) == column.name)
            present.push_back(column);
        else
            break;
    while (scanner.next(line)) {
        if (line.starts_with('#'))
            continue;
        T &row = rows.emplace_back();
        for (const Key<T> &column : present) {
            const std::string_view word = take_word(line);
            if (word.empty()) {
                scanner.fail("there is no '" + std::string(column.name) + "'");
                break;
            }
            column.set({scanner, column.name, word}, row);
        }
    }
    return scanner.finish(std::move(rows));
}

// The boxes of `runlistY`.

struct BoxTitle {
    std::size_t indent;
    std::string_view text; ///< `TSG Entry 5`
};

/// Reads the line that opens a box. Returns false at the end of the text, and after an error.
bool open_box(Scanner &scanner, BoxTitle &title);

/// Reads a line of the box, key and value. Returns false where the box is closed, and after an
/// error.
bool next_in_box(Scanner &scanner, const BoxTitle &title, std::string_view &key,
                 std::string_view &value);

/// Fills in @p to from the lines of a box; lines with a key outside the table are skipped.
template <typename T>
void read_box(Scanner &scanner, const BoxTitle &title, std::span<const Key<T>> keys, T &to) {
    Record<T> record(keys, to);
    for (std::string_view key, value; next_in_box(scanner, title, key, value);)
        record.set({scanner, key, value});
    record.require_all(scanner);
}

} // namespace nvdebug::text
