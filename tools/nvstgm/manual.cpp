// SPDX-License-Identifier: MIT OR GPL-2.0
#include "manual.hpp"

#include <algorithm>
#include <sstream>

#include "command_line.hpp"
#include "lib/base/mdoc.hpp"

namespace nvstgm {
namespace {

namespace mdoc = nvdebug::base::mdoc;

std::string item(const Option &option) {
    std::string text = ".It " + mdoc::flags(option.short_name, option.name, option.value) + "\n" +
                       mdoc::sentence(option.help);
    for (const std::string &choice : option.choices)
        text += (&choice == &option.choices.front() ? ".Cm " : " , ") + choice;
    if (!option.choices.empty())
        text += "\n(default: the first).\n";
    return text;
}

std::string synopsis() {
    std::string text;
    for (const Command &command : all_commands()) {
        text += ".Nm nvstgm\n.Cm " + command.name + "\n.Op Ar OPTION ...\n";
        if (command.more_words)
            text += ".Fl Fl\n";
        for (const std::string &word : command.words)
            text += ".Ar " + word + (command.more_words ? " ...\n" : "\n");
    }
    return text;
}

std::string commands() {
    std::string text = ".Bl -tag -width simulate\n";
    for (const Command &command : all_commands())
        text += ".It Cm " + command.name + "\n" + mdoc::sentence(command.help) +
                (command.notes.empty() ? "" : mdoc::text(command.notes) + "\n");
    return text + ".El\n";
}

/// Options below the names of the commands that have them alike.
std::string options() {
    std::vector<std::pair<std::string, std::vector<std::string>>> owners; // by item
    for (const Command &command : all_commands())
        for (const Option &option : command.options) {
            const std::string text = item(option);
            auto found = std::ranges::find(
                owners, text, &std::pair<std::string, std::vector<std::string>>::first);
            if (found == owners.end())
                found = owners.insert(owners.end(), {text, {}});
            found->second.push_back(command.name);
        }
    std::vector<std::vector<std::string>> groups;
    for (const auto &[text, names] : owners)
        if (std::ranges::find(groups, names) == groups.end())
            groups.push_back(names);
    std::string out;
    for (const std::vector<std::string> &names : groups) {
        out += ".Pp\nOf\n.Cm";
        for (const std::string &name : names)
            out += (&name == &names.front() ? " " : " , ") + name;
        std::string items;
        for (const auto &[text, of] : owners)
            if (of == names)
                items += text;
        out += " :\n" + mdoc::list(items);
    }
    return out.substr(std::string_view(".Pp\n").size());
}

std::string examples() {
    std::string items;
    for (const Command &command : all_commands())
        for (const auto &[line, help] : command.examples)
            items += ".It Li " + mdoc::word(line) + "\n" + mdoc::sentence(help);
    return mdoc::list(items);
}

} // namespace

std::string manual(const std::string &prose) {
    std::istringstream lines(prose);
    std::string page;
    for (std::string line; std::getline(lines, line);)
        page += line == "@synopsis"   ? synopsis()
                : line == "@commands" ? commands()
                : line == "@options"  ? options()
                : line == "@examples" ? examples()
                                      : line + "\n";
    return page;
}

} // namespace nvstgm
