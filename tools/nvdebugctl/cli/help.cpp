// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sstream>
#include <unistd.h>

#include "command_line.hpp"
#include "context.hpp"
#include "help.hpp"
#include "json.hpp"
#include "lib/cli/message.hpp"
#include "output.hpp"
#include "page.hpp"
#include "text.hpp"

namespace nvdebugctl {

namespace {

using Item = std::pair<std::string, std::string>;

/// Breaks @p text into lines that fit the terminal. Each line after the first is indented by @p
/// indent.
std::string wrapped(const std::string &text, std::size_t indent) {
    constexpr std::size_t narrowest = 20;
    const std::size_t width = nvdebug::cli::columns_of(STDOUT_FILENO);
    std::string lines;
    for (const std::string &line :
         break_lines(text, std::max(narrowest, width > indent ? width - indent : 0)))
        lines += (lines.empty() ? "" : std::string(indent, ' ')) + line + "\n";
    return lines;
}

std::string paragraph(const std::string &text) {
    return wrapped(text, 0);
}

/// Lists names with their meanings beside them. A long name has a line of its own.
std::string list(const std::vector<Item> &items) {
    const std::size_t longest =
        std::max<std::size_t>(8, nvdebug::cli::columns_of(STDOUT_FILENO) / 3);
    std::size_t width = 0;
    for (const Item &item : items)
        if (item.first.size() <= longest)
            width = std::max(width, item.first.size());
    std::string text;
    for (const auto &[name, help] : items) {
        if (name.size() > width)
            text += "  " + wrapped(name, 4) + std::string(width + 4, ' ');
        else
            text += fmt::format("  {:<{}}  ", name, width);
        text += wrapped(help, width + 4);
    }
    return text;
}

std::string section(const std::string &title, const std::vector<Item> &items) {
    return items.empty() ? "" : fmt::format("\n{}:\n{}", title, list(items));
}

Item item(const Option &option) {
    std::string name = option.short_name.empty() ? "    " : option.short_name + ", ";
    name += option.name;
    if (!option.value.empty())
        name += " " + option.value;
    return {name, option.help};
}

std::string counted(const Argument &argument) {
    switch (argument.count) {
    case Argument::Count::one:
        return argument.name;
    case Argument::Count::optional:
        return "[" + argument.name + "]";
    case Argument::Count::some:
        return argument.name + "...";
    case Argument::Count::any:
        return "[" + argument.name + "]...";
    }
    return argument.name;
}

std::vector<Item> items(const std::vector<Option> &options) {
    std::vector<Item> result;
    std::ranges::transform(options, std::back_inserter(result), item);
    return result;
}

std::string usage_line() {
    return wrapped("Usage: nvdebugctl [OPTION]... OBJECT VERB [ARGUMENT]... [OPTION]...", 4);
}

std::string help_of_tool(const std::vector<Object> &objects) {
    std::vector<Item> names;
    for (const Object &object : objects)
        names.emplace_back(object.name, object.help);
    return "Shows and controls how NVIDIA GPUs schedule work.\n\n" + usage_line() +
           section("Objects", names) + section("Options", items(common_options())) +
           section("Examples", {{"nvdebugctl gpu list", "which GPUs are there"},
                                {"nvdebugctl runlist show 0", "the tasks of runlist 0"},
                                {"nvdebugctl -j runlist show 0", "the same for a program"}}) +
           "\n" +
           paragraph("OBJECT and VERB can be cut short where that leaves no doubt, but for 'exec': "
                     "'run sh 0' is 'runlist show 0'. Exit status: 0 done, 1 usage, 2 refused, or "
                     "trouble was found, 3 not supported here, 4 partial or torn, 5 failed, may "
                     "work later. More is in 'nvdebugctl OBJECT --help' and "
                     "nvdebugctl-OBJECT(1).");
}

std::string help_of_object(const Object &object) {
    std::vector<Item> verbs, examples;
    for (const Command &command : object.commands) {
        verbs.emplace_back(synopsis(command), command.help);
        for (const Example &example : command.examples)
            examples.emplace_back(example.line, example.help);
    }
    return wrapped(fmt::format("nvdebugctl {}: {}", object.name, object.help), 4) +
           section("Verbs", verbs) + section("Examples", examples) + "\n" +
           wrapped(fmt::format("'nvdebugctl {} VERB --help' lists options.", object.name), 0);
}

std::string help_of_command(const Command &command) {
    std::vector<Item> arguments, examples;
    for (const Argument &argument : command.arguments)
        arguments.emplace_back(argument.name, argument.help);
    for (const Example &example : command.examples)
        examples.emplace_back(example.line, example.help);
    std::string text = wrapped(command.help, 0) + "\n" +
                       wrapped("Usage: nvdebugctl [OPTION]... " + synopsis(command), 4);
    for (const std::string &note : command.notes)
        text += "\n" + paragraph(note);
    text += section("Arguments", arguments) + section("Options", items(options_of(command)));
    if (command.has_table())
        text +=
            "\n" +
            wrapped(fmt::format("Columns: see 'nvdebugctl {} --columns help'.", command.name()), 0);
    return text + section("Examples", examples);
}

} // namespace

std::string synopsis(const Command &command) {
    std::string text = command.name();
    for (const Argument &argument : command.arguments)
        text += " " + counted(argument);
    const std::vector<Option> &common = common_options();
    for (const Option &option : options_of(command))
        if (std::ranges::find(common, option.name, &Option::name) == common.end())
            text += fmt::format(" [{}{}{}]", option.name, option.value.empty() ? "" : " ",
                                option.value);
    return text;
}

std::string short_usage(const std::vector<Object> &objects) {
    std::vector<Item> items;
    for (const Object &object : objects)
        items.emplace_back(object.name, object.help);
    return usage_line() + section("Objects", items) +
           "\n'nvdebugctl --help' lists options and examples; 'nvdebugctl OBJECT' its verbs.\n";
}

std::string columns_help(const Command &command) {
    std::vector<Item> items;
    for (const Column &column : command.columns)
        items.emplace_back(column.name,
                           column.help + (column.in_table ? "" : " (not in tables by default)"));
    return list(items);
}

std::string help_text(const std::vector<Object> &objects, const Object *object,
                      const Command *command) {
    if (command)
        return help_of_command(*command);
    return object ? help_of_object(*object) : help_of_tool(objects);
}

namespace {

Json to_json(const Argument &argument) {
    using Count = Argument::Count;
    static const std::map<Argument::Kind, const char *> kinds = {
        {Argument::Kind::runlist, "runlist"}, {Argument::Kind::channel, "channel"},
        {Argument::Kind::tsg, "tsg"},         {Argument::Kind::engine, "engine"},
        {Argument::Kind::file, "file"},       {Argument::Kind::choice, "choice"},
        {Argument::Kind::text, "text"}};
    return {{"name", argument.name},
            {"kind", kinds.at(argument.kind)},
            {"help", argument.help},
            {"required", argument.count == Count::one || argument.count == Count::some},
            {"repeated", argument.count == Count::some || argument.count == Count::any},
            {"choices", argument.choices}};
}

Json to_json(const Option &option) {
    return {{"name", option.name},
            {"short_name", option.short_name.empty() ? Json() : Json(option.short_name)},
            {"value", option.value.empty() ? Json() : Json(option.value)},
            {"help", option.help},
            {"choices", option.choices}};
}

Json to_json(const Column &column) {
    return {{"name", column.name}, {"help", column.help}, {"in_table", column.in_table}};
}

template <typename T>
Json to_json(const std::vector<T> &things) {
    Json list = Json::array();
    for (const T &thing : things)
        list.push_back(to_json(thing));
    return list;
}

Json to_json(const Command &command) {
    Json examples = Json::array();
    for (const Example &example : command.examples)
        examples.push_back({{"line", example.line}, {"help", example.help}});
    return {{"object", command.object},
            {"verb", command.verb.empty() ? Json() : Json(command.verb)},
            {"synopsis", synopsis(command)},
            {"help", command.help},
            {"control", command.control},
            {"schema", command.json ? Json(command.schema() + ".json") : Json()},
            {"arguments", to_json(command.arguments)},
            {"options", to_json(options_of(command))},
            {"columns", to_json(command.columns)},
            {"examples", std::move(examples)}};
}

Outcome<void> check(const Context &context) {
    if (context.words("WORD").size() > 2)
        return usage("'help' takes an object and a verb, and nothing else");
    return {};
}

Outcome<Document> help(Context &context) {
    const std::vector<Object> &objects = *context.invocation().objects;
    const auto &words = context.words("WORD");
    const Object *object = nullptr;
    const Command *command = nullptr;
    if (!words.empty() && !(object = find_object(objects, words[0])))
        return usage(fmt::format("there is no '{}'{}; see 'nvdebugctl help'", words[0],
                                 guess(words[0], names_of(objects))));
    if (object && object->commands.front().verb.empty())
        command = &object->commands.front();
    if (words.size() > 1 && !(command = find_command(*object, words[1])))
        return usage(fmt::format("'{0}' has no verb '{1}'{2}; see 'nvdebugctl help {0}'", words[0],
                                 words[1], guess(words[1], verbs_of(*object))));
    Json commands = Json::array();
    for (const Object &candidate : objects)
        for (const Command &one : candidate.commands)
            if ((!object || candidate.name == object->name) &&
                (!command || one.verb == command->verb))
                commands.push_back(to_json(one));
    return Document{{{"text", help_text(objects, object, command)}, {"commands", commands}}};
}

void print(const Json &data, Page &page) {
    std::istringstream text(data["text"].get<std::string>());
    for (std::string line; std::getline(text, line);)
        page.line(line);
}

} // namespace

std::vector<Command> help_commands() {
    return {
        {.object = "help",
         .verb = "",
         .help = "help on the tool, an object or a verb; with -j, the table of all commands",
         .scope = Scope::nothing,
         .arguments = {{"WORD", Argument::Kind::text, "an object, or an object and a verb",
                        Argument::Count::any}},
         .fields = {{"text", "the help that a person reads", "string"},
                    {"commands",
                     "the commands asked for, or all",
                     "[object]",
                     {{"object", "first word", "string"},
                      {"verb", "second word; null: none", "string?"},
                      {"synopsis", "how it is typed", "string"},
                      {"help", "what it does", "string"},
                      {"control", "it changes the GPU", "bool"},
                      {"schema", "file name of the schema of its JSON; null: it has no JSON",
                       "string?"},
                      {"arguments",
                       "arguments in order",
                       "[object]",
                       {{"name", "as help shows it", "string"},
                        {"kind", "what the word is", "runlist|channel|tsg|engine|file|choice|text"},
                        {"help", "what it means", "string"},
                        {"required", "it must be there", "bool"},
                        {"repeated", "there may be more of it", "bool"},
                        {"choices", "of kind choice: the words", "[string]"}}},
                      {"options",
                       "options that it has a use for",
                       "[object]",
                       {{"name", "long name", "string"},
                        {"short_name", "one-letter name", "string?"},
                        {"value", "what its value is called; null: takes none", "string?"},
                        {"help", "what it does", "string"},
                        {"choices", "values that it takes; empty: any", "[string]"}}},
                      {"columns",
                       "columns; empty: neither table nor CSV",
                       "[object]",
                       {{"name", "column of CSV and tables", "string"},
                        {"help", "what it holds", "string"},
                        {"in_table", "tables show it without --columns", "bool"}}},
                      {"examples",
                       "examples",
                       "[object]",
                       {{"line", "what to type", "string"}, {"help", "what it does", "string"}}}}}},
         .examples = {{"nvdebugctl help runlist show", "the same as runlist show --help"},
                      {"nvdebugctl help -j", "every command, argument, option and column"}},
         .check = check,
         .run = help,
         .text = print}};
}

} // namespace nvdebugctl
