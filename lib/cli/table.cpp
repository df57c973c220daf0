// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lib/cli/table.hpp"

#include <algorithm>

namespace nvdebug::cli {

std::vector<Option> operator+(std::vector<Option> some, std::vector<Option> more) {
    some.insert(some.end(), more.begin(), more.end());
    return some;
}

std::vector<Option> options_of(const Verb &verb) {
    return verb.options + std::vector<Option>{{"--help", "print this", "", "-h"},
                                              {"--version", "print the version", "", "-V"}};
}

const Option *find_option(const std::vector<Option> &options, std::string_view name) {
    const auto found = std::ranges::find_if(options, [&](const Option &option) {
        return option.name == name || (!option.short_name.empty() && option.short_name == name);
    });
    return found == options.end() ? nullptr : &*found;
}

std::vector<std::string> names_of_verbs(const Program &program, bool with_help) {
    std::vector<std::string> names;
    for (const Verb &verb : program.verbs)
        if (!verb.name.empty())
            names.push_back(verb.name + (with_help ? "\t" + verb.help : ""));
    return names;
}

const Verb *find_verb(const Program &program, std::string_view name) {
    if (name.empty())
        return nullptr;
    const auto found = std::ranges::find(program.verbs, name, &Verb::name);
    return found == program.verbs.end() ? nullptr : &*found;
}

std::size_t find_verb_word(const Program &program, const std::vector<std::string> &words) {
    for (std::size_t at = 0; at < words.size(); at++) {
        const std::string &word = words[at];
        if (word.size() < 2 || word.front() != '-')
            return at;
        if (word == "--")
            return words.size();
        for (const Verb &verb : program.verbs)
            if (const Option *const option = find_option(verb.options, word);
                option && option->takes_value() && option->place == Option::Place::next) {
                at++;
                break;
            }
    }
    return words.size();
}

std::string heading_of(const Option &option) {
    std::string text = option.short_name.empty() ? "" : option.short_name + ", ";
    text += option.name;
    if (option.takes_value())
        text +=
            option.place == Option::Place::sign ? "[=" + option.value + "]" : " " + option.value;
    return text;
}

} // namespace nvdebug::cli
