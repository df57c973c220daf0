// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lib/cli/help.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "lib/base/lines.hpp"
#include "lib/base/words.hpp"

namespace nvdebug::cli {
namespace {

constexpr std::size_t least_help = 20; ///< columns for a text beside a name, however narrow the
                                       ///< terminal is

/// Breaks text into lines of @p width columns. All lines except the first are indented by @p
/// indent.
std::string wrapped(const std::string &text, std::size_t width, std::size_t indent = 0) {
    std::string lines;
    const std::size_t room = std::max(least_help, width - std::min(width, indent));
    for (const std::string &line : base::break_lines(text, room))
        lines += (lines.empty() ? "" : std::string(indent, ' ')) + line + "\n";
    return lines;
}

/// Breaks paragraphs into lines. A line that begins with a blank is kept if it fits.
std::string paragraphs(const std::string &text, std::size_t width) {
    std::string out, words;
    const auto flush = [&] { out += wrapped(std::exchange(words, ""), width); };
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (!line.empty() && line.front() != ' ') {
            words += (words.empty() ? "" : " ") + line;
            continue;
        }
        flush();
        const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
        // An indented line may be a name with a text beside it. The text then continues below
        // itself.
        const std::size_t gap = line.find("  ", indent);
        const std::size_t text_at = gap == line.npos ? indent : line.find_first_not_of(' ', gap);
        out += line.size() <= width || text_at == line.npos
                   ? line + "\n"
                   : line.substr(0, text_at) + wrapped(line.substr(text_at), width, text_at);
    }
    flush();
    return out;
}

/// Prints names and texts side by side. A long name has a line of its own.
std::string list(const std::vector<std::pair<std::string, std::string>> &items, std::size_t width) {
    const std::size_t longest = std::max<std::size_t>(8, std::min<std::size_t>(30, width / 3));
    std::size_t column = 0;
    for (const auto &[name, text] : items)
        if (name.size() <= longest)
            column = std::max(column, name.size());
    std::string out;
    for (const auto &[name, text] : items) {
        out += "  " + name;
        out += name.size() > column ? "\n" + std::string(column + 4, ' ')
                                    : std::string(column - name.size() + 2, ' ');
        out += wrapped(text, width, column + 4);
    }
    return out;
}

std::string sentence(std::string help) {
    help[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(help[0])));
    return help + (help.ends_with('.') ? "" : ".");
}

std::string options_text(const std::vector<Option> &options, std::size_t width) {
    // All groups are printed as one list, so that their texts begin in the same column.
    std::vector<std::pair<std::string, std::string>> items;
    for (const Option &option : options)
        if (!option.hidden)
            items.emplace_back((option.short_name.empty() ? "    " : "") + heading_of(option),
                               help_of(option));
    std::istringstream lines(list(items, width));
    std::string out, line;
    bool has_line = static_cast<bool>(std::getline(lines, line));
    for (const Option &option : options) {
        if (option.hidden)
            continue;
        if (!option.heading.empty())
            out += std::string(out.empty() ? "" : "\n") +
                   (option.heading == " " ? "" : option.heading + "\n");
        const auto begins = [](const std::string &text) {
            return text.size() > 2 && (text[2] != ' ' || text.compare(2, 5, "    -") == 0);
        };
        do {
            out += line + "\n";
            has_line = static_cast<bool>(std::getline(lines, line));
        } while (has_line && !begins(line));
    }
    return out;
}

/// Returns the verbs with a name, and their help.
std::string verbs_text(const Program &program, std::size_t width) {
    std::vector<std::pair<std::string, std::string>> items;
    for (const Verb &verb : program.verbs)
        if (!verb.name.empty())
            items.emplace_back(verb.name, verb.help);
    return list(items, width);
}

std::string examples_text(const std::vector<Example> &examples, std::size_t width) {
    std::string out = examples.empty() ? "" : "\nExamples:\n";
    for (const Example &example : examples)
        out += "  " + wrapped(example.line, width - 2, 6) + "      " +
               wrapped(example.help, width - 6, 6);
    return out;
}

} // namespace

std::string help_of(const Option &option) {
    if (option.choices.empty())
        return option.help;
    std::vector<std::string> choices = option.choices;
    choices.front() += " (default)";
    return option.help + ": " + base::listed(choices);
}

std::vector<Example> usage_of(const Program &program, const Verb &verb) {
    if (!verb.usage.empty())
        return verb.usage;
    std::string line = program.name + (verb.name.empty() ? "" : " " + verb.name);
    std::string words;
    for (std::size_t n = 0; n < verb.words.size(); n++) {
        const bool is_last = n + 1 == verb.words.size();
        words += is_last && verb.more == Verb::More::any ? " [" + verb.words[n] + "]..."
                                                         : " " + verb.words[n];
    }
    if (verb.more == Verb::More::command)
        return {{line + " [OPTION]..." + words + " [ARGUMENT]...", ""}};
    return {{line + " [OPTION]..." + words, ""}};
}

std::string help_text(const Program &program, const Verb *verb, std::size_t width) {
    width = std::max<std::size_t>(width, 2 * least_help);
    if (!verb)
        verb = program.unnamed();
    std::string text;
    if (!verb) {
        text = wrapped("Usage: " + program.name + " COMMAND [OPTION]... [WORD]...", width, 7) +
               wrapped(program.help, width) + "\n";
        text += verbs_text(program, width) + "\n" +
                wrapped("'" + program.name +
                            " COMMAND --help' says more of each command; "
                            "-V, --version prints the version.",
                        width);
    } else {
        const char *before = "Usage: ";
        for (const Example &usage : usage_of(program, *verb)) {
            text += before + wrapped(usage.line, width - 7, 11);
            if (!usage.help.empty())
                text += std::string(11, ' ') + wrapped(usage.help, width - 11, 11);
            before = "       ";
        }
        text += wrapped(verb->name.empty() ? program.help : sentence(verb->help), width) + "\n";
        if (!verb->before.empty())
            text += paragraphs(verb->before, width) + "\n";
        text += options_text(options_of(*verb), width);
        if (!verb->notes.empty())
            text += "\n" + paragraphs(verb->notes, width);
        text += examples_text(verb->examples, width);
        if (!verb->name.empty())
            return text;
        if (program.has_verbs())
            text += "\nCommands:\n" + verbs_text(program, width) +
                    wrapped("'" + program.name + " COMMAND --help' says more of each.", width);
    }
    text += "\n" + paragraphs(program.exit_status, width);
    return program.manual.empty() ? text : text + "Manual: " + program.manual + "\n";
}

} // namespace nvdebug::cli
