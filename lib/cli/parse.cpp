// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lib/cli/parse.hpp"

#include <algorithm>

#include "lib/base/words.hpp"

namespace nvdebug::cli {
namespace {

using base::guess;
using base::listed;
using base::quote;

/// Returns `; 'nvstgm check --help' lists them`, for example.
std::string see_help(const Program &program, const Verb *verb, const char *does) {
    return "; '" + program.name + (verb && !verb->name.empty() ? " " + verb->name : "") +
           " --help' " + does;
}

std::string cut(std::string word) {
    const std::string text = quote(word);
    return text.substr(1, text.size() - 2);
}

/// Reads the words behind a verb.
class Reader {
  public:
    Reader(const Program &program, const Verb &verb, const std::vector<std::string> &words,
           Parsed &to)
        : program_(program), verb_(verb), options_(options_of(verb)), words_(words), to_(to) {}

    void read() {
        for (at_ = 0; at_ < words_.size() && to_.asks == Parsed::Asks::answer; at_++) {
            const std::string &word = words_[at_];
            if (only_words_ || word.size() < 2 || word.front() != '-')
                take_word(word);
            else if (word == "--")
                only_words_ = true;
            else if (word.starts_with("--"))
                take_long(word);
            else
                take_short(word);
        }
        if (to_.asks != Parsed::Asks::answer)
            return; // words behind --help are not checked
        if (waits_)
            fail(waits_->name + " takes a value: " + waits_->value);
        check_words();
    }

  private:
    void fail(std::string sentence) {
        if (!to_.wrong)
            to_.wrong = std::move(sentence);
    }

    void take_word(const std::string &word) {
        if (waits_ && !only_words_) {
            set(*std::exchange(waits_, nullptr), word);
            return;
        }
        if (to_.arguments.words.empty() && verb_.more == Verb::More::command)
            only_words_ = true;
        to_.arguments.words.push_back(word);
    }

    void take_long(const std::string &word) {
        const std::size_t sign = std::min(word.find('='), word.size());
        const std::string name = word.substr(0, sign);
        const Option *const option = find_option(options_, name);
        if (!option)
            return unknown(name);
        if (sign == word.size())
            return take(*option, std::nullopt);
        take(*option, word.substr(sign + 1));
    }

    /// Reads `-j`, `-jq`, `-oFILE`.
    void take_short(const std::string &word) {
        // `-json` is more often a mistyped `--json` than five options.
        if (word.size() > 2 && find_option(options_, "-" + word))
            return unknown(word);
        for (std::size_t n = 1; n < word.size() && to_.asks == Parsed::Asks::answer; n++) {
            const Option *const option = find_option(options_, "-" + word.substr(n, 1));
            if (!option)
                return unknown(word.size() == 2 ? word : "-" + word.substr(n, 1) + " of " + word);
            const bool has_rest = n + 1 < word.size();
            if (option->takes_value() && option->place != Option::Place::later && has_rest)
                return take(*option, word.substr(n + 1));
            take(*option, std::nullopt);
        }
    }

    void take(const Option &option, std::optional<std::string> value) {
        if (option.name == "--help" || option.name == "--version") {
            if (!value)
                to_.asks = option.name == "--help" ? Parsed::Asks::help : Parsed::Asks::version;
            else
                fail(option.name + " takes no value");
            return;
        }
        to_.json = to_.json || option.name == "--json";
        if (!option.takes_value()) {
            to_.arguments.options[option.name] = {""};
            if (value)
                fail(option.name + " takes no value");
            return;
        }
        if (!value && option.place == Option::Place::later) {
            waits_ = &option;
            return;
        }
        if (!value && option.place == Option::Place::next && at_ + 1 < words_.size() &&
            !is_option(words_[at_ + 1]))
            value = words_[++at_];
        if (value ? value->empty() : option.place == Option::Place::next)
            return fail(option.name + " takes a value: " + option.value);
        set(option, value.value_or(""));
    }

    void set(const Option &option, std::string value) {
        if (!option.choices.empty()) {
            const auto choice = base::same_word(value, option.choices);
            if (!choice)
                fail(option.name + " is one of " + listed(option.choices) + ", not " +
                     quote(value) + guess(value, option.choices));
            value = choice.value_or(value);
        }
        std::vector<std::string> &values = to_.arguments.options[option.name];
        if (!values.empty() && !option.repeats)
            fail(option.name + " is given twice");
        values.push_back(std::move(value));
    }

    bool is_option(const std::string &word) const {
        return word == "--" || find_option(options_, word.substr(0, word.find('=')));
    }

    void unknown(const std::string &name) {
        std::vector<std::string> names;
        for (const Option &option : options_)
            if (!option.hidden)
                names.push_back(option.name);
        const std::string typed = name.starts_with("--") ? name : "-" + name;
        fail("there is no option " + cut(name) +
             guess(typed, typed.size() > 3 ? names : std::vector<std::string>()) +
             see_help(program_, &verb_, "lists them"));
    }

    void check_words() {
        const std::size_t needed =
            verb_.words.size() - (verb_.more == Verb::More::any && !verb_.words.empty());
        const std::vector<std::string> &found = to_.arguments.words;
        const std::string who = verb_.name.empty() ? program_.name : "'" + verb_.name + "'";
        if (found.size() < needed)
            fail(who + " takes " + listed(verb_.words) + see_help(program_, &verb_, "says more"));
        if (found.size() > verb_.words.size() && verb_.more == Verb::More::none)
            fail(who + " does not take " + quote(found[verb_.words.size()]) +
                 see_help(program_, &verb_, "says more"));
    }

    const Program &program_;
    const Verb &verb_;
    const std::vector<Option> options_;
    const std::vector<std::string> &words_;
    Parsed &to_;
    std::size_t at_ = 0;
    const Option *waits_ = nullptr; ///< its value is the first word that is no option
    bool only_words_ = false;
};

std::string no_such_verb(const Program &program, const std::string &word) {
    return "there is no command " + quote(word) + guess(word, names_of_verbs(program, false)) +
           see_help(program, nullptr, "lists them");
}

/// Reads `help` and `help VERB`. Returns false for other words.
bool read_help(const Program &program, const std::vector<std::string> &words, Parsed &to) {
    if (!program.has_help_word || words.empty() || words[0] != "help")
        return false;
    to.asks = Parsed::Asks::help;
    if (words.size() == 1 || words[1] == "-h" || words[1] == "--help")
        return true;
    if (program.has_verbs() && !words[1].starts_with('-')) {
        to.verb = find_verb(program, words[1]);
        if (!to.verb)
            to.wrong = no_such_verb(program, words[1]);
        else if (words.size() > 2)
            to.wrong = "'help' takes one command, and not " + quote(words[2]) + " behind it";
    } else {
        to.wrong = "'help' does not take " + quote(words[1]);
    }
    return true;
}

} // namespace

std::string Arguments::text(const std::string &option, const std::string &otherwise) const {
    const auto found = options.find(option);
    return found == options.end() ? otherwise : found->second.back();
}

std::vector<std::string> Arguments::all(const std::string &option) const {
    const auto found = options.find(option);
    return found == options.end() ? std::vector<std::string>() : found->second;
}

tl::expected<std::int64_t, std::string> Arguments::number(const std::string &option,
                                                          std::int64_t otherwise,
                                                          std::int64_t least,
                                                          std::int64_t most) const {
    if (!has(option))
        return otherwise;
    return base::take_whole(option, text(option), least, most);
}

tl::expected<std::uint64_t, std::string> Arguments::time_ns(const std::string &option,
                                                            std::uint64_t otherwise,
                                                            const base::TimeRule &rule) const {
    if (!has(option))
        return otherwise;
    return base::take_time_ns(option, text(option), rule);
}

Parsed parse(const Program &program, std::vector<std::string> words) {
    Parsed parsed;
    if (read_help(program, words, parsed))
        return parsed;
    const Verb *verb = &program.verbs.front();
    Verb none; // takes the options of all verbs
    if (program.has_verbs()) {
        const std::size_t at = find_verb_word(program, words);
        const bool is_named = at < words.size() && find_verb(program, words[at]);
        if (!is_named && program.unnamed()) {
            // The words of a verb without a name may be anything except the name of another verb.
        } else if (at < words.size()) {
            verb = find_verb(program, words[at]);
            parsed.verb = verb;
            if (!verb)
                parsed.wrong = no_such_verb(program, words[at]);
            words.erase(words.begin() + static_cast<std::ptrdiff_t>(at));
        } else {
            verb = nullptr;
        }
        if (!verb) {
            // --help, --version and --json work without a verb, and with an unknown one.
            for (const Verb &one : program.verbs)
                for (const Option &option : one.options)
                    if (!find_option(none.options, option.name))
                        none.options.push_back(option);
            none.words = {"WORD"};
            none.more = Verb::More::any;
            Reader(program, none, words, parsed).read();
            if (!parsed.wrong && parsed.asks == Parsed::Asks::answer)
                parsed.wrong = "a command is missing" + see_help(program, nullptr, "lists them");
            return parsed;
        }
    }
    parsed.verb = verb;
    Reader(program, *verb, words, parsed).read();
    return parsed;
}

} // namespace nvdebug::cli
