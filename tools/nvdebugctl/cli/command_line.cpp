// SPDX-License-Identifier: MIT OR GPL-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <set>
#include <span>

#include "command_line.hpp"
#include "context.hpp"
#include "page.hpp"
#include "text.hpp"

namespace nvdebugctl {

namespace {

/// Returns whether a common option is of use for the command.
bool is_useful(const Command &command, const std::string &option) {
    if (option == "--gpu")
        return command.scope == Scope::gpu || command.scope == Scope::gpus;
    if (option == "--from")
        return command.scope != Scope::nothing;
    if (option == "--json")
        return command.json;
    // A stream prints each document on one line.
    if (option == "--pretty")
        return command.json && !command.stream;
    if (option == "--csv" || option == "--columns" || option == "--no-header")
        return command.has_table();
    return true;
}

const std::vector<Option> &control_options() {
    static const std::vector<Option> options = {
        {"--dry-run", "show what would be written where, and the present state; write nothing"}};
    return options;
}

const std::vector<Option> &lease_options() {
    static const std::vector<Option> options = {
        {"--for",
         "undo it after so many seconds (or 500ms, 10m, 1h), or when the tool ends in any way; 0: "
         "when interrupted",
         "TIME"}};
    return options;
}

} // namespace

const std::vector<Option> &common_options() {
    static const std::vector<Option> options = {
        {"--gpu",
         "index (0, gpu0), PCI address, UUID, device file (/dev/nvidia0) or chip name; several as "
         "0,2, or all; default: the only GPU, else the first that may be used",
         "GPU", "-g"},
        {"--from",
         "read from the module, from NVIDIA's driver (as root), or from a capture (-: from "
         "standard "
         "input) or a folder that looks like /proc; default: the module, else the driver",
         "module|driver|FILE"},
        {"--json", "one JSON document", "", "-j"},
        {"--pretty", "JSON with line breaks and indentation (implies -j)"},
        {"--csv", "comma-separated values (RFC 4180)"},
        {"--columns", "these columns in this order, by name or heading; 'help' lists them",
         "A,B,..."},
        {"--no-header", "no header line, for --csv and tables"},
        {"--color",
         "auto (on a terminal, unless NO_COLOR is set), always or never",
         "WHEN",
         "",
         {"auto", "always", "never"}},
        {"--help", "this help", "", "-h"},
        {"--version", "the tool's version", "", "-V"},
    };
    return options;
}

std::vector<Option> options_of(const Command &command) {
    std::vector<Option> options = command.options;
    for (const Picture &picture : command.pictures)
        options.push_back(picture.option);
    if (command.control)
        options.insert(options.end(), control_options().begin(), control_options().end());
    if (command.leasable)
        options.insert(options.end(), lease_options().begin(), lease_options().end());
    std::ranges::copy_if(common_options(), std::back_inserter(options),
                         [&](const Option &option) { return is_useful(command, option.name); });
    return options;
}

namespace {

/// All options of all commands, by name. Options may stand before the command, so one parser must
/// know them all.
using Options = std::map<std::string, Option>;

Options every_option(const std::vector<Object> &objects) {
    Options options;
    for (const Option &option : common_options())
        options.emplace(option.name, option);
    for (const Object &object : objects)
        for (const Command &command : object.commands)
            for (const Option &option : options_of(command))
                options.emplace(option.name, option);
    return options;
}

std::vector<std::string> split(const std::string &text, char separator) {
    std::vector<std::string> parts(1);
    for (const char c : text)
        if (c == separator)
            parts.emplace_back();
        else
            parts.back() += c;
    return parts;
}

std::string ask_help(const Invocation &invocation) {
    return fmt::format("see 'nvdebugctl {}--help'",
                       invocation.command  ? invocation.command->name() + " "
                       : invocation.object ? invocation.object->name + " "
                                           : "");
}

Outcome<void> check_argument(const Argument &argument, const std::string &word,
                             const Invocation &invocation) {
    switch (argument.kind) {
    case Argument::Kind::runlist:
        if (!parse_id(word))
            return usage(
                fmt::format("'{}' is no runlist: write its number, decimal or 0x…, without "
                            "a leading 0; 'nvdebugctl runlist list' lists them",
                            word));
        break;
    case Argument::Kind::channel:
    case Argument::Kind::tsg:
        if (const auto target = nvdebug::parse_target(word); !target)
            return usage(fmt::format("'{}' is no {}: write ID or RUNLIST:ID, numbers decimal or "
                                     "0x…, without a leading 0",
                                     word,
                                     argument.kind == Argument::Kind::tsg ? "TSG" : "channel"));
        break;
    case Argument::Kind::choice:
        if (!nvdebug::base::same_word(word, argument.choices))
            return usage(fmt::format("'{}' is no {} of '{}'{}; it is one of {}", word,
                                     argument.name, invocation.command->name(),
                                     guess(word, argument.choices),
                                     fmt::join(argument.choices, ", ")));
        break;
    case Argument::Kind::engine:
    case Argument::Kind::file:
    case Argument::Kind::text:
        if (word.empty())
            return usage(fmt::format("{} is empty; {}", argument.name, ask_help(invocation)));
        break;
    }
    return {};
}

Outcome<void> assign_arguments(const std::vector<std::string> &words, Invocation &invocation) {
    std::size_t next = 0;
    for (const Argument &argument : invocation.command->arguments) {
        const bool repeats =
            argument.count == Argument::Count::some || argument.count == Argument::Count::any;
        const bool required =
            argument.count == Argument::Count::some || argument.count == Argument::Count::one;
        if (required && next == words.size())
            return usage(fmt::format("'{}' needs {} ({}); {}", invocation.command->name(),
                                     argument.name, argument.help, ask_help(invocation)));
        do {
            if (next == words.size())
                break;
            if (auto checked = check_argument(argument, words[next], invocation); !checked)
                return checked;
            invocation.arguments[argument.name].push_back(
                nvdebug::base::same_word(words[next], argument.choices).value_or(words[next]));
            next++;
        } while (repeats);
    }
    if (next < words.size())
        return usage(fmt::format("unexpected argument '{1}' of '{0}'; {2}",
                                 invocation.command->name(), words[next], ask_help(invocation)));
    return {};
}

Outcome<void> check_options(Invocation &invocation) {
    const Command &command = *invocation.command;
    const std::vector<Option> useful = options_of(command);
    for (const auto &[name, value] : invocation.options) {
        const auto option = std::ranges::find(useful, name, &Option::name);
        if (option == useful.end())
            return usage(fmt::format("'{}' does not take {}; {}", command.name(), name,
                                     ask_help(invocation)));
        if (!option->choices.empty() &&
            std::ranges::find(option->choices, value) == option->choices.end())
            return usage(fmt::format("{} takes one of {}, not '{}'", name,
                                     fmt::join(option->choices, ", "), value));
    }

    const auto gpu = invocation.options.find("--gpu");
    if (gpu != invocation.options.end() && is_gpu_list(gpu->second))
        for (const Picture &picture : command.pictures)
            if (invocation.has(picture.option.name))
                return usage(fmt::format("{} is a picture of one GPU: name it instead of '{}'",
                                         picture.option.name, gpu->second));

    std::vector<std::string> forms;
    if (invocation.json())
        forms.push_back(invocation.has("--json") ? "--json" : "--pretty");
    if (invocation.has("--csv"))
        forms.push_back("--csv");
    for (const Picture &picture : command.pictures)
        if (invocation.has(picture.option.name))
            forms.push_back(picture.option.name);
    if (forms.size() > 1)
        return usage(
            fmt::format("{} exclude each other; give one of them", fmt::join(forms, " and ")));
    const bool columnless = !forms.empty() && forms[0] != "--csv";
    for (const char *option : {"--columns", "--no-header"})
        if (columnless && invocation.has(option))
            return usage(fmt::format("{} is for tables and --csv, and has no effect with {}",
                                     option, forms[0]));
    return {};
}

/// Returns the columns that a word of --columns may mean: the column of that name; else the column
/// with that heading, or with that name without its unit, in any case; else the columns that begin
/// with the word.
std::vector<const Column *> columns_meant(const std::vector<Column> &columns,
                                          const std::string &typed) {
    const auto is_same = [](const std::string &word, const std::string &other) {
        return nvdebug::base::same_word(word, std::span(&other, 1)).has_value();
    };
    const auto those = [&](auto &&holds) {
        std::vector<const Column *> found;
        for (const Column &column : columns)
            if (holds(column))
                found.push_back(&column);
        return found;
    };
    // A heading may contain a blank, because it is broken at its `_`.
    std::string word = typed;
    std::ranges::replace(word, ' ', '_');
    if (auto named = those([&](const Column &each) { return is_same(word, each.name); });
        !named.empty())
        return named;
    if (auto shown = those([&](const Column &each) { return is_same(word, heading_of(each)); });
        !shown.empty())
        return shown;
    if (auto bare = those([&](const Column &each) {
            return is_same(word, std::string(name_without_unit(each.name)));
        });
        !bare.empty())
        return bare;
    return those([&](const Column &each) {
        return is_same(word, each.name.substr(0, word.size())) ||
               is_same(word, heading_of(each).substr(0, word.size()));
    });
}

Outcome<void> choose_columns(Invocation &invocation) {
    const std::string &text = invocation.options.at("--columns");
    if (text == "help") {
        invocation.instead = Invocation::Instead::columns_help;
        return {};
    }
    for (const std::string &name : split(text, ',')) {
        const auto &columns = invocation.command->columns;
        const auto meant =
            name.empty() ? std::vector<const Column *>() : columns_meant(columns, name);
        if (meant.size() == 1) {
            invocation.columns.push_back(meant.front()->name);
            continue;
        }
        std::vector<std::string> names;
        if (meant.empty())
            std::ranges::transform(columns, std::back_inserter(names), &Column::name);
        else
            std::ranges::transform(meant, std::back_inserter(names),
                                   [](const Column *each) { return each->name; });
        const std::string rather = meant.empty()
                                       ? guess(name, names)
                                       : "; it may be " + nvdebug::base::listed(names, " or ");
        return usage(fmt::format("'{0}' has no column '{1}'{2}; 'nvdebugctl {0} --columns help' "
                                 "lists them",
                                 invocation.command->name(), name, rather));
    }
    return {};
}

std::string names_of_verbs(const Object &object) {
    return fmt::format("{}", fmt::join(verbs_of(object), ", "));
}

Outcome<void> unknown_word(const std::vector<Object> &objects, const std::vector<std::string> &rest,
                           const Invocation &invocation) {
    const auto option = std::ranges::find_if(
        rest, [](const std::string &word) { return word.size() > 1 && word[0] == '-'; });
    if (option != rest.end()) {
        std::vector<std::string> names;
        std::ranges::transform(invocation.command ? options_of(*invocation.command)
                                                  : common_options(),
                               std::back_inserter(names), &Option::name);
        return usage(fmt::format("there is no option {}{}; {}", *option,
                                 guess(option->substr(0, option->find('=')), names),
                                 ask_help(invocation)));
    }
    if (invocation.object)
        return usage(fmt::format("'{}' has no verb '{}'{}; it has {}", invocation.object->name,
                                 rest[0], guess(rest[0], verbs_of(*invocation.object)),
                                 names_of_verbs(*invocation.object)));
    return usage(fmt::format("there is no '{}'{}; {}", rest[0], guess(rest[0], names_of(objects)),
                             ask_help(invocation)));
}

/// Returns the flag among @p words that has a value, as in `--json=false`; empty: there is none.
std::string flag_with_value(const Options &options, const std::vector<std::string> &words) {
    for (const std::string &word : words) {
        const auto option = options.find(word.substr(0, word.find('=')));
        if (word.find('=') != word.npos && option != options.end() && option->second.value.empty())
            return option->first;
    }
    return "";
}

/// Returns the option of this name, if it takes a value; else nullptr.
const Option *option_with_value(const Options &options, const std::string &name) {
    const auto found = std::ranges::find_if(options, [&](const auto &entry) {
        const Option &option = entry.second;
        return !option.value.empty() && (option.name == name || option.short_name == name);
    });
    return found == options.end() ? nullptr : &found->second;
}

bool is_option(const Options &options, const std::string &word) {
    return std::ranges::any_of(options, [&](const auto &entry) {
        const Option &option = entry.second;
        return option.name == word.substr(0, word.find('=')) ||
               (!option.short_name.empty() && option.short_name == word);
    });
}

/// Returns an option among @p words that lacks its value, has an empty one, or is given twice;
/// empty: there is none.
std::string wrong_value(const Options &options, const std::vector<std::string> &words) {
    std::set<std::string> given;
    for (std::size_t n = 0; n < words.size() && words[n] != "--"; n++) {
        const std::size_t end = words[n].starts_with("--") ? words[n].find('=') : words[n].npos;
        const Option *const option = option_with_value(options, words[n].substr(0, end));
        if (!option)
            continue;
        if (!given.insert(option->name).second)
            return option->name + " is given twice";
        const bool is_next = n + 1 < words.size() && !is_option(options, words[n + 1]);
        const std::string value = end != words[n].npos ? words[n].substr(end + 1)
                                  : is_next            ? words[++n]
                                                       : "";
        if (value.empty())
            return fmt::format("{} needs a value: {}", option->name, option->value);
    }
    return "";
}

/// Replaces the beginnings of an object's and a verb's name by the full names, if they are
/// unambiguous.
void complete_words(const std::vector<Object> &objects, const Options &options,
                    std::vector<std::string> &words) {
    const Object *object = nullptr;
    for (std::size_t n = 0; n < words.size(); n++) {
        if (words[n].starts_with('-')) {
            n += option_with_value(options, words[n]) ? 1 : 0;
            continue;
        }
        if (object && object->commands.front().verb.empty())
            return;
        words[n] =
            whole_word(words[n], object ? verbs_of(*object) : names_that_may_be_short(objects))
                .value_or(words[n]);
        if (object || !(object = find_object(objects, words[n])))
            return;
    }
}

/// Removes the words for another program from @p words, and returns them.
std::vector<std::string> take_passed_on(const std::vector<Object> &objects, const Options &options,
                                        std::vector<std::string> &words) {
    std::size_t n = 0;
    while (n < words.size() && words[n].starts_with('-'))
        n += option_with_value(options, words[n]) ? 2 : 1;
    const Object *const object = n < words.size() ? find_object(objects, words[n]) : nullptr;
    if (!object || !object->commands.front().passes_on)
        return {};
    const auto first = words.begin() + static_cast<std::ptrdiff_t>(n) + 1;
    // A lone --help is for nvdebugctl: it shows the help of the object.
    if (words.end() - first == 1 && (*first == "--help" || *first == "-h"))
        return {};
    std::vector<std::string> passed(first, words.end());
    words.erase(first, words.end());
    return passed;
}

/// CLI11's parser and the words and values that it found.
struct Parser {
    CLI::App app;
    std::map<std::string, std::string> values;
    std::map<const Command *, std::vector<std::string>> words;
    std::map<const Command *, CLI::App *> commands;
    std::map<const Object *, CLI::App *> objects;

    Parser(const std::vector<Object> &table, const Options &options) {
        app.set_help_flag();
        app.allow_extras();
        app.require_subcommand(0, 1);
        for (const auto &[name, option] : options) {
            const std::string names =
                option.short_name.empty() ? name : option.short_name + "," + name;
            if (option.value.empty())
                app.add_flag(names);
            else
                app.add_option(names, values[name])->type_name(option.value);
        }
        for (const Object &object : table) {
            CLI::App *const sub = add(app, object.name);
            objects[&object] = sub;
            for (const Command &command : object.commands) {
                CLI::App *const leaf = command.verb.empty() ? sub : add(*sub, command.verb);
                leaf->add_option("WORD", words[&command])->expected(0, -1);
                commands[&command] = leaf;
            }
        }
    }

  private:
    static CLI::App *add(CLI::App &parent, const std::string &name) {
        CLI::App *const sub = parent.add_subcommand(name);
        sub->set_help_flag();
        sub->fallthrough();
        sub->allow_extras();
        sub->require_subcommand(0, 1);
        return sub;
    }
};

} // namespace

Outcome<void> parse_command_line(const std::vector<Object> &objects, std::vector<std::string> words,
                                 Invocation &invocation) {
    invocation.objects = &objects;
    const Options options = every_option(objects);
    Parser parser(objects, options);
    complete_words(objects, options, words);
    std::vector<std::string> passed = take_passed_on(objects, options, words);
    const std::string flag = flag_with_value(options, words);
    const std::string value = wrong_value(options, words);
    std::string trouble;
    try {
        std::ranges::reverse(words);
        parser.app.parse(words);
    } catch (const CLI::ParseError &error) {
        trouble = error.what();
    }

    for (const auto &[object, app] : parser.objects)
        if (app->parsed())
            invocation.object = object;
    for (const auto &[command, app] : parser.commands)
        if (app->parsed() && invocation.object)
            invocation.command = command;
    for (const auto &[name, option] : options)
        if (const CLI::Option *const given = parser.app.get_option(name); given->count() > 0)
            invocation.options[name] = parser.values[name];

    if (!flag.empty())
        return usage(fmt::format("{} takes no value; {}", flag, ask_help(invocation)));
    if (!value.empty())
        return usage(fmt::format("{}; {}", value, ask_help(invocation)));
    if (!trouble.empty())
        return usage(fmt::format("{}; {}", trouble, ask_help(invocation)));
    if (const std::vector<std::string> rest = parser.app.remaining(true); !rest.empty())
        return unknown_word(objects, rest, invocation);
    if (invocation.has("--help")) {
        invocation.instead = Invocation::Instead::help;
        return {};
    }
    if (invocation.has("--version")) {
        invocation.instead = Invocation::Instead::version;
        return {};
    }
    if (!invocation.object)
        return usage("an object and a verb are missing; see 'nvdebugctl --help'");
    if (!invocation.command)
        return usage(fmt::format("'{}' needs a verb: {}", invocation.object->name,
                                 names_of_verbs(*invocation.object)));
    if (auto checked = check_options(invocation); !checked)
        return checked;
    if (invocation.has("--columns"))
        if (auto chosen = choose_columns(invocation); !chosen)
            return chosen;
    if (invocation.instead != Invocation::Instead::nothing)
        return {};
    return assign_arguments(
        invocation.command->passes_on ? passed : parser.words[invocation.command], invocation);
}

} // namespace nvdebugctl
