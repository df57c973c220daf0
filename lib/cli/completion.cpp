// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lib/cli/completion.hpp"

#include <algorithm>

#include "lib/cli/help.hpp"

namespace nvdebug::cli {
namespace {

/// Returns the option of @p word that takes the next word. Of joined letters (-xt), only the last
/// one can.
const Option *taker(const std::vector<Option> &options, const std::string &word) {
    const auto takes_next = [](const Option *option) {
        return option && option->takes_value() && option->place != Option::Place::sign ? option
                                                                                       : nullptr;
    };
    if (word.starts_with("--"))
        return takes_next(find_option(options, word));
    for (std::size_t n = 1; n < word.size(); n++) {
        const Option *const found = find_option(options, "-" + word.substr(n, 1));
        const bool is_last = n + 1 == word.size();
        if (!found || is_last)
            return takes_next(found);
        if (found->takes_value() && found->place != Option::Place::later)
            return nullptr; // the rest of the word is its value
    }
    return nullptr;
}

std::vector<std::string> values_of(const Option &option, const std::string &typed) {
    return option.candidates ? option.candidates(typed) : option.choices;
}

} // namespace

std::vector<std::string> matching(const std::vector<std::string> &candidates,
                                  const std::string &typed, const std::string &before) {
    std::vector<std::string> found;
    for (const std::string &candidate : candidates)
        if (candidate.starts_with(typed))
            found.push_back(before + candidate);
    return found;
}

std::vector<std::string> completions(const Program &program,
                                     const std::vector<std::string> &words) {
    if (words.empty())
        return {};
    const std::size_t last = words.size() - 1;
    const std::string &typed = words[last];
    const Verb *verb = &program.verbs.front();
    std::size_t at_verb = words.size();
    std::vector<std::string> verbs; // the verbs that may replace the last word
    if (program.has_verbs()) {
        at_verb = find_verb_word(program, {words.begin(), words.end() - 1});
        const bool is_help = at_verb < last && words[at_verb] == "help" && at_verb + 1 == last;
        if (at_verb == last || is_help)
            verbs = names_of_verbs(program, true);
        if (is_help || (at_verb == last && !program.unnamed())) {
            if (!is_help)
                verbs.push_back("help\tof a command");
            if (!typed.starts_with('-'))
                return matching(verbs, typed);
            return matching({"--help\tprint help", "--version\tprint the version"}, typed);
        }
        verb = at_verb < last ? find_verb(program, words[at_verb]) : nullptr;
        if (!verb) {
            verb = program.unnamed();
            at_verb = words.size();
        }
        if (!verb)
            return {};
    }
    const std::vector<Option> options = options_of(*verb);
    bool only_words = false;
    for (std::size_t at = 0; at < last; at++) {
        if (at == at_verb || only_words)
            continue;
        const std::string &word = words[at];
        if (word == "--" || word.size() < 2 || word.front() != '-') {
            only_words = word == "--";
            if (verb->more == Verb::More::command)
                return {"@" + std::to_string(at + only_words)};
            continue;
        }
        const Option *const option = taker(options, word);
        if (option && at + 1 == last)
            return matching(values_of(*option, typed), typed);
        at += option && option->place == Option::Place::next ? 1 : 0;
        // Skips the PID of --pid, which may stand behind further options.
        if (option && option->place == Option::Place::later && !words[at + 1].starts_with('-'))
            at++;
    }
    if (!only_words && typed.starts_with('-')) {
        if (const std::size_t sign = typed.find('=');
            typed.starts_with("--") && sign != typed.npos) {
            const Option *const option = find_option(options, typed.substr(0, sign));
            const std::string value = typed.substr(sign + 1);
            return option && option->takes_value()
                       ? matching(values_of(*option, value), value, typed.substr(0, sign + 1))
                       : std::vector<std::string>();
        }
        std::vector<std::string> names;
        for (const Option &option : options)
            if (!option.hidden)
                names.push_back(option.name + "\t" + option.help);
        return matching(names, typed);
    }
    if (verb->more == Verb::More::command)
        return {"@" + std::to_string(last)};
    std::vector<std::string> found =
        verb->candidates ? matching(verb->candidates(typed), typed) : std::vector<std::string>();
    for (std::string &name : matching(verbs, typed))
        found.push_back(std::move(name));
    return found;
}

} // namespace nvdebug::cli
