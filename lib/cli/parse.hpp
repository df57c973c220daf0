// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Parses a command line by the program's table.
///
/// Options and words may stand in any order, and all words behind `--` are no options. Short
/// options may be joined (`-jq`). A value may be the next word, or stand behind a sign; the value
/// of a short option may also follow without a blank. An option of this table is never taken for a
/// value: `--output --json` lacks a value, and `--output=--json` has one. An empty value counts as
/// missing, because a script's variable may be unset.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/quantity.hpp"
#include "lib/cli/table.hpp"
#include "nvdebug/expected.hpp"

namespace nvdebug::cli {

/// The words and options of a command line, checked against the table.
class Arguments {
  public:
    std::vector<std::string> words;
    /// The values by long name, in their order. A flag, and an option without its value, has `""`.
    std::map<std::string, std::vector<std::string>> options;

    [[nodiscard]] bool has(const std::string &option) const { return options.contains(option); }
    /// Returns the value; @p otherwise if the option is absent.
    [[nodiscard]] std::string text(const std::string &option,
                                   const std::string &otherwise = "") const;
    [[nodiscard]] std::vector<std::string> all(const std::string &option) const;
    /// Returns the value as a whole number from @p least to @p most. Fails with a sentence.
    [[nodiscard]] tl::expected<std::int64_t, std::string> number(const std::string &option,
                                                                 std::int64_t otherwise,
                                                                 std::int64_t least,
                                                                 std::int64_t most) const;
    /// Returns the value as a time in ns. Fails with a sentence.
    [[nodiscard]] tl::expected<std::uint64_t, std::string>
    time_ns(const std::string &option, std::uint64_t otherwise, const base::TimeRule &rule) const;
};

/// The result of parsing a command line.
struct Parsed {
    enum class Asks { answer, help, version } asks = Asks::answer;
    const Verb *verb = nullptr; ///< null: no verb was named, so help is the program's
    Arguments arguments;
    bool json = false;                ///< --json was typed; also set if something else is wrong
    std::optional<std::string> wrong; ///< a sentence about the first error
};

/// Parses @p words, without the program's name. The result points into @p program.
[[nodiscard]] Parsed parse(const Program &program, std::vector<std::string> words);

} // namespace nvdebug::cli
