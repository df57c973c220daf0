// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file From words to what they ask for, by the table.
///
/// Options and words may stand in any order; behind `--` all are words. Short options may be joined
/// (`-jq`), and a value may follow its option as the next word, behind a sign or, of a short one,
/// without a blank. The next word is no value if it is an option of this table: `--output --json`
/// lacks a value, and `--output=--json` has one. An empty value counts as missing, as does that of
/// a variable of a script that is not set.
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

/// What was typed, checked against the table.
class Arguments {
  public:
    std::vector<std::string> words;
    /// By long name, values in their order; a flag, and an option without its value, has `""`.
    std::map<std::string, std::vector<std::string>> options;

    [[nodiscard]] bool has(const std::string &option) const { return options.contains(option); }
    /// Returns the value; @p otherwise if the option was not given.
    [[nodiscard]] std::string text(const std::string &option,
                                   const std::string &otherwise = "") const;
    [[nodiscard]] std::vector<std::string> all(const std::string &option) const;
    /// Returns the value as a whole number from @p least to @p most, or a sentence.
    [[nodiscard]] tl::expected<std::int64_t, std::string> number(const std::string &option,
                                                                 std::int64_t otherwise,
                                                                 std::int64_t least,
                                                                 std::int64_t most) const;
    /// Returns the value as a time in ns, or a sentence.
    [[nodiscard]] tl::expected<std::uint64_t, std::string>
    time_ns(const std::string &option, std::uint64_t otherwise, const base::TimeRule &rule) const;
};

/// The outcome of a command line.
struct Parsed {
    enum class Asks { answer, help, version } asks = Asks::answer;
    const Verb *verb = nullptr; ///< null: none was named, so that help is the program's
    Arguments arguments;
    bool json = false;                ///< --json was typed, also where something else is wrong
    std::optional<std::string> wrong; ///< a sentence: the first thing that makes no sense
};

/// Reads @p words, without the program's name. Pointers in the result are into @p program.
[[nodiscard]] Parsed parse(const Program &program, std::vector<std::string> words);

} // namespace nvdebug::cli
