// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The table that describes a program's command line. Parsing (parse.hpp), help (help.hpp),
/// completion in shells (completion.hpp) and the OPTIONS of man pages (manual.hpp) come from it.
///
/// CLI11, over which nvdebugctl parses, is not used here. Its version in Debian 12 splits words,
/// and that is the smallest part: it has no guesses, no lines of limited width, no completion and
/// no man pages, and the program keeps a table beside it for these. nvdebugctl also corrects it in
/// a hundred lines (flags with values, values that are missing, options of another verb). What
/// splits words here is shorter than that.
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
    std::string value = "";      ///< what its value is called, `TIME`; empty: it takes none
    std::string short_name = ""; ///< `-e`
    /// The only values that it takes, in any case of letters. The first one is the default.
    std::vector<std::string> choices = {};
    bool repeats = false; ///< it may be given several times

    /// Where its value stands, if it takes one.
    enum class Place {
        next,  ///< `--epoch TIME`, `--epoch=TIME`, `-e TIME`, `-eTIME`
        sign,  ///< `--socket`, `--socket=PATH`: the value may be left out
        later, ///< the first word that is no option: `--pid --list 4711`
    } place = Place::next;
    bool hidden = false;      ///< help leaves it out
    std::string heading = ""; ///< of the options from here on; a blank: an empty line alone
    /// Returns values for completion, as `VALUE` or `VALUE<tab>MEANING`. @p typed is what there is.
    std::function<std::vector<std::string>(const std::string &typed)> candidates = nullptr;

    [[nodiscard]] bool takes_value() const { return !value.empty(); }
};

struct Example {
    std::string line, help;
};

/// A verb of a program; of a program without verbs, its only one, which has no name.
struct Verb {
    std::string name;                    ///< `check`
    std::string help;                    ///< one line, begins in lower case, no full stop
    std::vector<std::string> words = {}; ///< what has to follow: `SET`
    std::vector<Option> options = {};
    std::string notes =
        ""; ///< paragraphs behind the options; a line that begins with a blank stays
    std::vector<Example> examples = {};

    /// What may follow behind the words.
    enum class More {
        none,
        any,     ///< the last word any number of times, or never
        command, ///< the last word is a program: all that follows is its own, options too
    } more = More::none;
    /// How it is typed, and what that does; empty: found from words and options.
    std::vector<Example> usage = {};
    std::string before = ""; ///< paragraphs before the options, as Verb::notes
    /// Returns candidates for a word, as Option::candidates.
    std::function<std::vector<std::string>(const std::string &typed)> candidates = nullptr;
};

struct Program {
    std::string name;    ///< `nvqos`
    std::string version; ///< `0.9`
    std::string help;    ///< what it does: a sentence
    /// The first one may have no name: it is what the program does if no other one is typed. A
    /// program without verbs has it alone.
    std::vector<Verb> verbs;
    std::string exit_status;   ///< a paragraph
    std::string manual;        ///< `nvqos(1)`; empty: it has none
    bool has_help_word = true; ///< `nvqos help`; no: the first word may be a program of this name

    [[nodiscard]] bool has_verbs() const { return verbs.size() > 1 || !unnamed(); }
    /// Returns the verb that is meant if none is typed; null: one has to be.
    [[nodiscard]] const Verb *unnamed() const {
        return verbs.front().name.empty() ? &verbs.front() : nullptr;
    }
};

/// Returns the verb's options with those that all have: --help and --version.
[[nodiscard]] std::vector<Option> options_of(const Verb &verb);
/// Returns the option with this long or short name; null: there is none.
[[nodiscard]] const Option *find_option(const std::vector<Option> &options, std::string_view name);
/// Returns the names of verbs that have one, each behind a tab with its help if @p with_help.
[[nodiscard]] std::vector<std::string> names_of_verbs(const Program &program, bool with_help);
/// Returns the verb of this name, which is not empty; null: there is none.
[[nodiscard]] const Verb *find_verb(const Program &program, std::string_view name);
/// Returns where @p words have the verb: the first one that is neither an option of any verb nor
/// the value of one. Returns the number of words if there is none.
[[nodiscard]] std::size_t find_verb_word(const Program &program,
                                         const std::vector<std::string> &words);
/// Returns `-e, --epoch TIME`, without a short name `--epoch TIME`.
[[nodiscard]] std::string heading_of(const Option &option);
/// Returns the two tables, one behind the other.
[[nodiscard]] std::vector<Option> operator+(std::vector<Option> some, std::vector<Option> more);

} // namespace nvdebug::cli
