// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lib/cli/manual.hpp"

#include <algorithm>
#include <sstream>

#include "lib/base/mdoc.hpp"
#include "lib/cli/help.hpp"

namespace nvdebug::cli {
namespace {

namespace mdoc = base::mdoc;

std::string heading(const Option &option) {
    if (option.place != Option::Place::sign)
        return ".It " + mdoc::flags(option.short_name, option.name, mdoc::value(option.value)) +
               "\n";
    return ".It " + mdoc::flags(option.short_name, option.name, "") + " Ns Op = Ns Ar " +
           mdoc::value(option.value) + "\n";
}

std::string item(const Option &option) {
    std::string text = heading(option) + mdoc::sentence(option.help);
    for (const std::string &choice : option.choices)
        text += (&choice == &option.choices.front() ? ".Cm " : " , ") + choice;
    if (!option.choices.empty())
        text += "\n(default: the first).\n";
    return text;
}

std::string synopsis(const Program &program) {
    std::string text;
    for (const Verb &verb : program.verbs) {
        text += ".Nm " + program.name + "\n";
        if (!verb.name.empty())
            text += ".Cm " + verb.name + "\n";
        text += ".Op Ar OPTION ...\n";
        for (const std::string &word : verb.words)
            text += ".Ar " + mdoc::word(word) +
                    (&word == &verb.words.back() && verb.more == Verb::More::any ? " ...\n" : "\n");
        if (verb.more == Verb::More::command)
            text += ".Op Ar ARGUMENT ...\n";
    }
    return text;
}

std::string commands(const Program &program) {
    std::string text = ".Bl -tag -width Ds\n";
    for (const Verb &verb : program.verbs)
        if (!verb.name.empty())
            text += ".It Cm " + verb.name + "\n" + mdoc::sentence(verb.help) +
                    (verb.notes.empty() ? "" : mdoc::text(verb.notes) + "\n");
    return text + ".El\n";
}

/// Returns the options below the names of the verbs that share them.
std::string options(const Program &program) {
    using Owners = std::pair<std::string, std::vector<std::string>>; // an item, and the names of
                                                                     // its verbs
    std::vector<Owners> owners;
    for (const Verb &verb : program.verbs)
        for (const Option &option : options_of(verb)) {
            if (option.hidden)
                continue;
            const std::string text = item(option);
            auto found = std::ranges::find(owners, text, &Owners::first);
            if (found == owners.end())
                found = owners.insert(owners.end(), {text, {}});
            found->second.push_back(verb.name);
        }
    std::vector<std::vector<std::string>> groups;
    for (const Owners &owner : owners)
        if (std::ranges::find(groups, owner.second) == groups.end())
            groups.push_back(owner.second);
    std::string out;
    for (const std::vector<std::string> &names : groups) {
        if (program.has_verbs()) {
            out += std::string(out.empty() ? "" : ".Pp\n") + "Of\n.Cm";
            for (const std::string &name : names)
                out += (&name == &names.front() ? " " : " , ") + name;
            out += " :\n";
        }
        std::string items;
        for (const auto &[text, of] : owners)
            if (of == names)
                items += text;
        out += mdoc::list(items);
    }
    return out;
}

std::string examples(const Program &program) {
    std::string items;
    for (const Verb &verb : program.verbs)
        for (const Example &example : verb.examples)
            items += ".It Li " + mdoc::word(example.line) + "\n" + mdoc::sentence(example.help);
    return mdoc::list(items);
}

} // namespace

tl::expected<std::string, std::string> manual(const Program &program, const std::string &page) {
    std::vector<Option> left;
    for (const Verb &verb : program.verbs)
        for (const Option &option : options_of(verb))
            if (!option.hidden && !find_option(left, option.name))
                left.push_back(option);
    std::istringstream lines(page);
    std::string out;
    constexpr std::string_view one = "@option ";
    bool has_one = false;
    for (std::string line; std::getline(lines, line);) {
        if (line == "@synopsis") {
            out += synopsis(program);
        } else if (line == "@commands") {
            out += commands(program);
        } else if (line == "@options") {
            out += options(program);
        } else if (line == "@examples") {
            out += examples(program);
        } else if (line.starts_with(one)) {
            const std::string name = line.substr(one.size());
            const Option *const option = find_option(left, name);
            if (!option)
                return tl::unexpected("the page has '" + line + "', and " + program.name +
                                      " has no such option, or the page has it twice");
            out += heading(*option);
            std::erase_if(left, [&](const Option &each) { return each.name == name; });
            has_one = true;
        } else {
            out += line + "\n";
        }
    }
    if (has_one && !left.empty())
        return tl::unexpected("the page lacks a line '@option " + left.front().name + "'");
    return out;
}

} // namespace nvdebug::cli
