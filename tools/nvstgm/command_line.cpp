// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fmt/format.h>

#include "command_line.hpp"
#include "forms.hpp"

namespace nvstgm {
namespace {

const std::vector<Option> &common() {
    static const std::vector<Option> options{{"--help", "this", "", "-h"}};
    return options;
}

const Option *find(const std::vector<Option> &options, const std::string &typed) {
    for (const Option &option : options)
        if (option.name == typed || (!option.short_name.empty() && option.short_name == typed))
            return &option;
    return nullptr;
}

std::string listed(const std::vector<std::string> &words) {
    std::string text;
    for (const std::string &word : words)
        text += (text.empty() ? "" : ", ") + word;
    return text;
}

std::string heading(const Option &option) {
    return (option.short_name.empty() ? "    " : option.short_name + ", ") + option.name +
           (option.value.empty() ? "" : " " + option.value);
}

std::string listed_words(const Command &command) {
    std::string text;
    for (const std::string &word : command.words)
        text += " " + word;
    return text;
}

} // namespace

std::string Arguments::text(const std::string &option, const std::string &otherwise) const {
    const auto found = options.find(option);
    return found == options.end() ? otherwise : found->second.back();
}

Outcome<std::int64_t> Arguments::number(const std::string &option, std::int64_t otherwise,
                                        std::int64_t least, std::int64_t most) const {
    if (!has(option))
        return otherwise;
    const std::string typed = text(option);
    std::int64_t found = 0;
    const auto [end, error] = std::from_chars(typed.data(), typed.data() + typed.size(), found);
    if (error != std::errc() || end != typed.data() + typed.size() || found < least || found > most)
        return fail(fmt::format("{} takes a whole number from {} to {}, not '{}'", option, least,
                                most, printable(typed)));
    return found;
}

std::vector<Option> operator+(std::vector<Option> some, std::vector<Option> more) {
    some.insert(some.end(), more.begin(), more.end());
    return some;
}

Outcome<Arguments> parse(const Command &command, const std::vector<std::string> &typed) {
    const std::vector<Option> options = command.options + common();
    Arguments found;
    bool only_words = false;
    for (std::size_t at = 0; at < typed.size(); at++) {
        std::string word = typed[at];
        if (only_words || word == "-" || !word.starts_with('-')) {
            found.words.push_back(word);
            continue;
        }
        if (word == "--") {
            only_words = true;
            continue;
        }
        std::optional<std::string> value;
        if (const std::size_t equal = word.find('=');
            word.starts_with("--") && equal != word.npos) {
            value = word.substr(equal + 1);
            word.resize(equal);
        }
        const Option *const option = find(options, word);
        if (!option)
            return fail(fmt::format("'{}' has no option {}; 'nvstgm {} --help' lists them",
                                    command.name, printable(word), command.name));
        if (option->value.empty() && value)
            return fail(option->name + " takes no value");
        if (!option->value.empty() && !value) {
            if (at + 1 == typed.size())
                return fail(option->name + " takes a value: " + option->value);
            value = typed[++at];
        }
        if (!option->choices.empty() &&
            std::ranges::find(option->choices, *value) == option->choices.end())
            return fail(fmt::format("{} is one of {}, not '{}'", option->name,
                                    listed(option->choices), printable(*value)));
        auto &values = found.options[option->name];
        if (!values.empty() && !option->repeats)
            return fail(option->name + " is there twice");
        values.push_back(value.value_or(""));
    }
    if (found.has("--help"))
        return found;
    if (found.words.size() < command.words.size())
        return fail(fmt::format("'{}' takes {}; 'nvstgm {} --help' says more", command.name,
                                listed(command.words), command.name));
    if (found.words.size() > command.words.size() && !command.more_words)
        return fail(fmt::format("'{}' does not take '{}'", command.name,
                                printable(found.words[command.words.size()])));
    if (found.has("--json") && found.has("--csv"))
        return fail("--json and --csv exclude each other");
    return found;
}

std::string help_of(const Command &command) {
    std::string text = "Usage: nvstgm " + command.name;
    // Options of a command that follows are its own.
    const std::string options_text = " [OPTION]...", words_text = listed_words(command);
    text += (command.more_words ? options_text + " --" + words_text + "..."
                                : words_text + options_text) +
            "\n" + std::string(1, static_cast<char>(command.help[0] - 'a' + 'A')) +
            command.help.substr(1) + ".\n\n";
    const std::vector<Option> options = command.options + common();
    std::size_t width = 0;
    for (const Option &option : options)
        width = std::max(width, heading(option).size());
    for (const Option &option : options) {
        text += fmt::format("  {:{}}  {}\n", heading(option), width, option.help);
        if (!option.choices.empty())
            text +=
                fmt::format("  {:{}}  {}\n", "", width,
                            listed(option.choices) + " (default: " + option.choices.front() + ")");
    }
    if (!command.notes.empty())
        text += "\n" + command.notes + "\n";
    if (!command.examples.empty())
        text += "\nExamples:\n";
    for (const auto &[line, what] : command.examples)
        text += fmt::format("  {}\n      {}\n", line, what);
    return text;
}

std::vector<std::string> completions(const std::vector<std::string> &words) {
    const std::string typed = words.empty() ? "" : words.back();
    std::vector<std::string> candidates, found;
    if (words.size() <= 1) {
        for (const Command &command : all_commands())
            candidates.push_back(command.name);
    } else {
        for (const Command &command : all_commands()) {
            if (command.name != words[0])
                continue;
            const std::vector<Option> options = command.options + common();
            const Option *const before =
                words.size() > 2 ? find(options, words[words.size() - 2]) : nullptr;
            if (before && !before->value.empty())
                candidates = before->choices;
            else if (typed.starts_with('-'))
                for (const Option &option : options)
                    candidates.push_back(option.name);
        }
    }
    for (const std::string &candidate : candidates)
        if (candidate.starts_with(typed))
            found.push_back(candidate);
    return found;
}

std::string help_of_all() {
    std::string text =
        "Usage: nvstgm COMMAND [ARGUMENT]...\n"
        "Do tasks with CPU and GPU segments meet their deadlines, on which cores and SMs?\n\n";
    for (const Command &command : all_commands())
        text += fmt::format("  {:<10} {}\n", command.name, command.help);
    return text +
           "\n'nvstgm COMMAND --help' says more of each; -V, --version: which version this is.\n"
           "Exit status: 0, 2: not schedulable, or a deadline was missed; 1: nothing was done, "
           "stderr says "
           "why.\nManual: nvstgm(1)\n";
}

} // namespace nvstgm
