// SPDX-License-Identifier: MIT OR GPL-2.0
#include <fmt/format.h>
#include <sstream>

#include "commands.hpp"
#include "context.hpp"
#include "help.hpp"
#include "page.hpp"

namespace nvdebugctl {
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
    const std::vector<Object> objects = all_objects();
    const auto &words = context.words("WORD");
    const Object *object = nullptr;
    const Command *command = nullptr;
    if (!words.empty() && !(object = find_object(objects, words[0])))
        return usage(fmt::format("there is no '{}'; see 'nvdebugctl help'", words[0]));
    if (object && object->commands.front().verb.empty())
        command = &object->commands.front();
    if (words.size() > 1 && !(command = find_command(*object, words[1])))
        return usage(
            fmt::format("'{0}' has no verb '{1}'; see 'nvdebugctl help {0}'", words[0], words[1]));
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
    return {{.object = "help",
             .verb = "",
             .help = "help on the tool, an object or a verb; with -j, the table of all commands",
             .scope = Scope::nothing,
             .arguments = {{"WORD", Argument::Kind::text, "an object, or an object and a verb",
                            Argument::Count::any}},
             .examples = {{"nvdebugctl help runlist show", "the same as runlist show --help"},
                          {"nvdebugctl help -j", "every command, argument, option and column"}},
             .check = check,
             .run = help,
             .text = print}};
}

} // namespace nvdebugctl
