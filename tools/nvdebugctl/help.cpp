// SPDX-License-Identifier: MIT OR GPL-2.0
#include "help.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "invocation.hpp"

namespace nvdebugctl {
namespace {

using Item = std::pair<std::string, std::string>;

std::string list(const std::vector<Item> &items) {
    std::size_t width = 0;
    for (const Item &item : items)
        width = std::max(width, item.first.size());
    std::string text;
    for (const auto &[name, help] : items)
        text += fmt::format("  {:<{}}  {}\n", name, width, help);
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

std::string help_of_tool(const std::vector<Object> &objects) {
    std::vector<Item> names;
    for (const Object &object : objects)
        names.emplace_back(object.name, object.help);
    return "Shows and controls how NVIDIA GPUs schedule work.\n\n"
           "Usage: nvdebugctl [OPTION]... OBJECT VERB [ARGUMENT]... [OPTION]...\n" +
           section("Objects", names) + section("Options", items(common_options())) +
           section("Examples", {{"nvdebugctl gpu list", "which GPUs are there"},
                                {"nvdebugctl runlist show 0", "who is scheduled from runlist 0"},
                                {"nvdebugctl -j runlist show 0", "the same for a program"}}) +
           "\nExit status: 0 done, 1 usage, 2 refused or failed, 3 not supported here,\n"
           "4 partial or torn. 'nvdebugctl OBJECT --help' tells more; so does "
           "nvdebugctl-OBJECT(1).\n";
}

std::string help_of_object(const Object &object) {
    std::vector<Item> verbs, examples;
    for (const Command &command : object.commands) {
        verbs.emplace_back(synopsis(command), command.help);
        for (const Example &example : command.examples)
            examples.emplace_back(example.line, example.help);
    }
    return fmt::format("nvdebugctl {}: {}\n", object.name, object.help) + section("Verbs", verbs) +
           section("Examples", examples) +
           fmt::format("\n'nvdebugctl {} VERB --help' lists options.\n", object.name);
}

std::string help_of_command(const Command &command) {
    std::vector<Item> arguments, examples;
    for (const Argument &argument : command.arguments)
        arguments.emplace_back(argument.name, argument.help);
    for (const Example &example : command.examples)
        examples.emplace_back(example.line, example.help);
    std::string text =
        fmt::format("{}\n\nUsage: nvdebugctl [OPTION]... {}\n", command.help, synopsis(command));
    if (!command.notes.empty())
        text += fmt::format("\n{}\n", fmt::join(command.notes, "\n"));
    text += section("Arguments", arguments) + section("Options", items(options_of(command)));
    if (command.has_table())
        text += fmt::format("\nColumns: see 'nvdebugctl {} --columns help'.\n", command.name());
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

} // namespace nvdebugctl
