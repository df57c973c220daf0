// SPDX-License-Identifier: MIT OR GPL-2.0
// Writes the man pages of the tool and of its objects from the table of commands: make_manuals
// PROSE FOLDER. The folder PROSE has the text that the table lacks. nvdebugctl.1.in is a page with
// places for the table's parts. OBJECT.in has text that stands before the verbs of an object, and
// sections that complete or replace the ones that are made here. controls.in has the text that all
// controls share.
#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "cli/command_line.hpp"
#include "cli/help.hpp"
#include "commands.hpp"
#include "lib/base/mdoc.hpp"
#include "schema.hpp"

namespace nvdebugctl {
namespace {

using namespace nvdebug::base::mdoc;

constexpr const char *head =
    ".\\\" SPDX-License-Identifier: MIT OR GPL-2.0\n.Dd {}\n.Dt {} 1\n.Os Linux\n";
constexpr const char *conventions =
    "Names of columns and keys include the unit.\n"
    "What is unknown, or does not exist on a chip, is\n"
    ".Ql -\n"
    "in tables and text, empty in CSV and null in JSON.\n"
    "The schemas in\n"
    ".Pa share/nvdebug/schema\n"
    "under the installation prefix (/usr or /usr/local) describe each key further.\n";

std::string options_list(const std::vector<Option> &options) {
    std::string items;
    for (const Option &option : options)
        items += ".It " + flags(option.short_name, option.name, option.value) + "\n" +
                 sentence(option.help);
    return items;
}

/// Returns for example ` Op Ar RUNLIST`.
std::string macros(const Argument &argument) {
    using Count = Argument::Count;
    const bool optional = argument.count == Count::optional || argument.count == Count::any;
    const bool repeated = argument.count == Count::some || argument.count == Count::any;
    return (optional ? "Op Ar " : "Ar ") + argument.name + (repeated ? " ..." : "");
}

bool is_one_of(const Option &option, const std::vector<Option> &options) {
    return std::ranges::find(options, option.name, &Option::name) != options.end();
}

/// Returns the command's options without the common ones.
std::vector<Option> special_options(const Command &command) {
    std::vector<Option> options = options_of(command);
    std::erase_if(options,
                  [](const Option &option) { return is_one_of(option, common_options()); });
    return options;
}

/// Returns the command's own options and those of its pictures, but not those of controls.
std::vector<Option> own_options(const Command &command) {
    std::vector<Option> options = special_options(command);
    std::erase_if(options, [&](const Option &option) {
        return !is_one_of(option, command.options) &&
               std::ranges::none_of(command.pictures, [&](const Picture &picture) {
                   return picture.option.name == option.name;
               });
    });
    return options;
}

std::string synopsis_of(const Object &object) {
    std::string text = ".Sh SYNOPSIS\n";
    for (const Command &command : object.commands) {
        text += ".Nm nvdebugctl\n.Op Ar OPTION ...\n.Cm " + command.name() + "\n";
        for (const Option &option : special_options(command)) {
            const std::string &name = option.short_name.empty() ? option.name : option.short_name;
            text +=
                ".Op " + flag(name) + (option.value.empty() ? "" : " Ar " + option.value) + "\n";
        }
        for (const Argument &argument : command.arguments)
            text += "." + macros(argument) + "\n";
    }
    return text;
}

std::string described_verbs(const Object &object) {
    std::string items;
    for (const Command &command : object.commands) {
        items += ".It Cm " + command.name();
        std::string arguments;
        for (const Argument &argument : command.arguments) {
            items += " " + macros(argument);
            arguments += ".It Ar " + argument.name + "\n" + sentence(argument.help);
        }
        items += "\n" + sentence(command.help);
        for (const std::string &note : command.notes)
            items += sentence(note);
        items += list(arguments + options_list(own_options(command)));
    }
    return list(items);
}

std::string keys_list(const std::vector<Field> &fields) {
    std::string items;
    for (const Field &field : fields)
        if (!field.name.empty())
            items += ".It Cm " + field.name + "\n" + sentence(field.help);
    return list(items);
}

/// Lists the keys of all fields that are objects or arrays of objects. Each list follows the name
/// of its field.
std::string parts_of(const std::vector<Field> &fields) {
    std::string text;
    for (const Field &field : fields) {
        if (!field.fields.empty())
            text += field.name.empty() ? ".Pp\nOr:\n" : ".Pp\nIn\n.Cm " + field.name + " :\n";
        text += keys_list(field.fields) + parts_of(field.fields);
    }
    return text;
}

std::set<std::string> names_of(const std::vector<Field> &fields) {
    std::set<std::string> names;
    for (const Field &field : fields)
        names.insert(field.name);
    return names;
}

std::string output_of(const Command &command) {
    std::string text;
    const std::vector<Field> columns = fields_of(command.columns);
    std::vector<Field> keys;
    if (command.json && !command.control)
        keys = data_keys(command);
    if (!columns.empty() && names_of(columns) == names_of(keys))
        return ".Pp\nColumns of tables and CSV, and keys of JSON:\n" + keys_list(columns) +
               parts_of(keys);
    if (!columns.empty())
        text += ".Pp\nColumns of tables and CSV:\n" + keys_list(columns);
    if (!keys.empty())
        text += ".Pp\nKeys of JSON:\n" + keys_list(keys) + parts_of(keys);
    // The first alternative is not introduced by "Or:".
    if (const std::size_t at = text.find("Keys of JSON:\n.Pp\nOr:\n"); at != text.npos)
        text.erase(at + 14, 8);
    return text;
}

std::string outputs_of(const Object &object) {
    std::string text;
    for (const Command &command : object.commands)
        if (const std::string part = output_of(command); !part.empty())
            text += (object.commands.size() > 1 ? ".Ss " + command.name() + "\n" + part.substr(4)
                                                : part);
    return text;
}

std::string examples_of(const Object &object) {
    std::string items;
    for (const Command &command : object.commands)
        for (const Example &example : command.examples)
            items += ".It Li " + word(example.line) + "\n" + sentence(example.help);
    return ".Sh EXAMPLES\n" + list(items);
}

/// The text of a file of prose by section. The text before the first section has the key "".
using Sections = std::map<std::string, std::string>;

Sections sections_of(const std::string &text) {
    Sections sections;
    std::istringstream lines(text);
    std::string name;
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with(".Sh "))
            sections[name = line.substr(4)];
        else
            sections[name] += line + "\n";
    return sections;
}

/// Replaces each line of @p text that is the name of a part by that part.
std::string filled(const std::string &text, const std::map<std::string, std::string> &parts) {
    std::istringstream lines(text);
    std::string out;
    for (std::string line; std::getline(lines, line);)
        out += parts.contains(line) ? parts.at(line) : line + "\n";
    return out;
}

std::string controls_of(const Object &object, const std::string &prose) {
    std::vector<Option> options;
    const Command *control = nullptr;
    for (const Command &command : object.commands)
        if (command.control) {
            control = &command;
            for (const Option &option : special_options(command))
                if (!is_one_of(option, own_options(command)) && !is_one_of(option, options))
                    options.push_back(option);
        }
    if (!control)
        return "";
    const std::vector<Field> keys = data_keys(*control);
    return filled(prose, {{"@options", list(options_list(options))}}) + ".Pp\nKeys of JSON:\n" +
           keys_list(keys) + parts_of(keys);
}

std::string upper(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char each) { return std::toupper(each); });
    return text;
}

std::string page(const Object &object, const char *date, const Sections &prose,
                 const std::string &controls) {
    const auto of = [&](const char *name, const char *otherwise = "") {
        const auto found = prose.find(name);
        return found == prose.end() ? std::string(otherwise) : found->second;
    };
    const auto whole = [&](const char *name) {
        const std::string text = of(name);
        return text.empty() ? "" : fmt::format(".Sh {}\n{}", name, text);
    };
    std::string text = fmt::format(head, date, upper("nvdebugctl-" + object.name));
    text += fmt::format(".Sh NAME\n.Nm nvdebugctl-{}\n.Nd {}\n", object.name, object.help) +
            synopsis_of(object) + ".Sh DESCRIPTION\n" + of("") + described_verbs(object);
    if (!object.commands.front().passes_on)
        text += ".Pp\nThe options common to all objects are in\n.Xr nvdebugctl 1 .\n";
    text += of("DESCRIPTION");
    if (const std::string output =
            outputs_of(object) + controls_of(object, of("CONTROLS", controls.c_str()));
        !output.empty())
        text += std::string(".Sh OUTPUT\n") + conventions + of("OUTPUT") + output;
    return text + whole("ENVIRONMENT") + ".Sh EXIT STATUS\n" +
           of("EXIT STATUS", "See\n.Xr nvdebugctl 1 .\n") + examples_of(object) + ".Sh SEE ALSO\n" +
           of("SEE ALSO", ".Xr nvdebugctl 1 ,\n.Xr nvdebug 4\n") + whole("CAVEATS");
}

std::string page_of_tool(const std::vector<Object> &objects, const char *date,
                         const std::string &prose) {
    std::string items, names;
    for (const Object &object : objects)
        if (object.name != "help")
            items += fmt::format(".It Cm {0}\n{1}See\n.Xr nvdebugctl-{0} 1 .\n", object.name,
                                 sentence(object.help));
    std::vector<std::string> sorted;
    for (const Object &object : objects)
        if (object.name == "help")
            items +=
                described_verbs(object).substr(std::string_view(".Bl -tag -width Ds\n").size());
        else
            sorted.push_back(object.name);
    std::ranges::sort(sorted);
    for (const std::string &name : sorted)
        names += fmt::format(".Xr nvdebugctl-{} 1 ,\n", name);
    return fmt::format(head, date, "NVDEBUGCTL") +
           filled(prose, {{"@objects", ".Bl -tag -width Ds\n" + items},
                          {"@options", list(options_list(common_options()))},
                          {"@pages", names}});
}

/// Returns the file without the lines that are comments; empty: there is no such file.
std::string contents(const std::string &path) {
    std::ifstream file(path);
    std::string text;
    for (std::string line; std::getline(file, line);)
        if (!line.starts_with(".\\\""))
            text += line + "\n";
    return text;
}

bool write(const std::string &path, const std::string &text) {
    std::ofstream file(path);
    if ((file << text).flush())
        return true;
    std::cerr << "cannot write " << path << "\n";
    return false;
}

} // namespace
} // namespace nvdebugctl

int main(int argc, char **argv) {
    using namespace nvdebugctl;
    // The day of the last change of the pages' form or prose.
    constexpr const char *date = "November 25, 2026";
    if (argc != 3)
        return 1;
    const std::string from = std::string(argv[1]) + "/",
                      into = std::string(argv[2]) + "/nvdebugctl";
    const std::vector<Object> objects = all_objects();
    const std::string tool = contents(from + "nvdebugctl.1.in"),
                      controls = contents(from + "controls.in");
    if (tool.empty() || controls.empty()) {
        std::cerr << "make_manuals: nvdebugctl.1.in or controls.in is missing in " << from << "\n";
        return 1;
    }
    bool good = write(into + ".1", page_of_tool(objects, date, tool));
    for (const Object &object : objects)
        if (object.name != "help")
            good &= write(
                into + "-" + object.name + ".1",
                page(object, date, sections_of(contents(from + object.name + ".in")), controls));
    return good ? 0 : 1;
}
