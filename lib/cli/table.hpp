// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The table that describes a program's command line. Parsing (parse.hpp), help (help.hpp),
/// completion in shells (completion.hpp) and the options of man pages (manual.hpp) use it.
///
/// nvdebugctl parses with CLI11, which is not used here. Its version in Debian 12 splits words, and
/// that is the smallest part of the work: it guesses no words, limits no widths, and makes no
/// completion and no man pages, for which a table would be needed beside it. nvdebugctl also
/// corrects it in a hundred lines (flags with values, missing values, options of another verb). The
/// code here that splits words is shorter.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nvdebug::cli {

struct Option {
    std::string name;            ///< `--epoch`
    std::string help;            ///< begins in lower case, without a full stop
    std::string value = "";      ///< the name of its value, `TIME`; empty: it takes no value
    std::string short_name = ""; ///< `-e`
    /// The accepted values, in any case of letters. The first one is the default.
    std::vector<std::string> choices = {};
    bool repeats = false; ///< the option may be given several times

    /// The place of the value, if the option takes one.
    enum class Place {
        next,  ///< `--epoch TIME`, `--epoch=TIME`, `-e TIME`, `-eTIME`
        sign,  ///< `--socket`, `--socket=PATH`: the value may be left out
        later, ///< the first word that is not an option: `--pid --list 4711`
    } place = Place::next;
    bool hidden = false;      ///< help leaves it out
    std::string heading = ""; ///< of the options from this one on; a blank: only an empty line
    /// Returns values for completion, as `VALUE` or `VALUE<tab>MEANING`. @p typed is the beginning
    /// that was typed.
    std::function<std::vector<std::string>(const std::string &typed)> candidates = nullptr;

    [[nodiscard]] bool takes_value() const { return !value.empty(); }
};

struct Example {
    std::string line, help;
};

/// A verb of a program. A program without verbs has a single one, without a name.
struct Verb {
    std::string name;                    ///< `check`
    std::string help;                    ///< one line in lower case without a full stop
    std::vector<std::string> words = {}; ///< the names of words that follow: `SET`
    std::vector<Option> options = {};
    std::string notes =
        ""; ///< paragraphs behind the options; a line that begins with a blank stays
    std::vector<Example> examples = {};

    /// Words that may follow behind `words`.
    enum class More {
        none,
        any,     ///< the last of `words` any number of times, or never
        command, ///< the last of `words` is a program, and all further words are its arguments
    } more = More::none;
    /// Ways to type the verb, and their effects; empty: made from words and options.
    std::vector<Example> usage = {};
    std::string before = ""; ///< paragraphs before the options, as Verb::notes
    /// Returns candidates for a word, in the form of Option::candidates.
    std::function<std::vector<std::string>(const std::string &typed)> candidates = nullptr;
};

struct Program {
    std::string name;    ///< `nvqos`
    std::string version; ///< `0.9`
    std::string help;    ///< a sentence about the program
    /// The first verb may have no name: it is used if no other verb is typed. A program without
    /// verbs has only that one.
    std::vector<Verb> verbs;
    std::string exit_status;   ///< a paragraph
    std::string manual;        ///< `nvqos(1)`; empty: there is none
    bool has_help_word = true; ///< `nvqos help`; false: the first word may be a program of this
                               ///< name

    [[nodiscard]] bool has_verbs() const { return verbs.size() > 1 || !unnamed(); }
    /// Returns the verb that is used if none is typed; null: a verb must be typed.
    [[nodiscard]] const Verb *unnamed() const {
        return verbs.front().name.empty() ? &verbs.front() : nullptr;
    }
};

/// Returns the verb's options, and --help and --version, which all verbs have.
[[nodiscard]] std::vector<Option> options_of(const Verb &verb);
/// Returns the option with this long or short name; null: there is none.
[[nodiscard]] const Option *find_option(const std::vector<Option> &options, std::string_view name);
/// Returns the names of verbs, with a tab and the help behind each name if @p with_help. A verb
/// without a name is left out.
[[nodiscard]] std::vector<std::string> names_of_verbs(const Program &program, bool with_help);
/// Returns the verb with this name, which must not be empty; null: there is none.
[[nodiscard]] const Verb *find_verb(const Program &program, std::string_view name);
/// Returns the index of the verb in @p words, which is the first word that is neither an option of
/// a verb nor its value. Returns the number of words if there is none.
[[nodiscard]] std::size_t find_verb_word(const Program &program,
                                         const std::vector<std::string> &words);
/// Returns `-e, --epoch TIME`, or `--epoch TIME` if there is no short name.
[[nodiscard]] std::string heading_of(const Option &option);
/// Returns both tables as one.
[[nodiscard]] std::vector<Option> operator+(std::vector<Option> some, std::vector<Option> more);

} // namespace nvdebug::cli
