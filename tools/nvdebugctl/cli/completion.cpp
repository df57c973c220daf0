// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "command_line.hpp"
#include "completion.hpp"
#include "completion_script.hpp"
#include "context.hpp"
#include "output.hpp"
#include "text.hpp"

namespace nvdebugctl {

namespace {

using nvdebug::Detail;
using nvdebug::Gpu;
using nvdebug::Tree;
using Candidates = std::vector<std::string>;

/// With this candidate, the script adds file names itself.
constexpr const char *files = "<file>";

/// With this candidate and a number, the script calls nvtaskset's completion for the words after
/// that number.
constexpr const char *passes_on = "<nvtaskset>";

/// The words before the one that is being typed, as far as they are unambiguous.
struct TypedWords {
    const Object *object = nullptr;
    const Command *command = nullptr;
    std::size_t arguments = 0;
    std::optional<std::string> gpu, from;
    std::string value_of; ///< the option whose value is being typed
    /// Number of the word after which all words are for another program.
    std::optional<std::size_t> passed;
};

std::optional<Option> find_option(const std::vector<Object> &objects, const std::string &word) {
    for (const Object &object : objects)
        for (const Command &command : object.commands)
            for (const Option &option : options_of(command))
                if (option.name == word || option.short_name == word)
                    return option;
    return std::nullopt;
}

template <typename Things, typename Name>
std::string in_full(const std::string &word, const Things &things, Name name) {
    std::vector<std::string> names;
    std::ranges::transform(things, std::back_inserter(names), name);
    return whole_word(word, names).value_or(word);
}

/// Returns `--from=` for `--from=VALUE`; empty: the word is no option with a value.
std::string name_and_sign(const std::string &word) {
    return word.starts_with("--") ? word.substr(0, word.find('=') + 1) : "";
}

void take_option(const std::string &name, const std::string &value, TypedWords &typed) {
    if (name == "--gpu")
        typed.gpu = value;
    if (name == "--from")
        typed.from = value;
}

/// Returns the command of a verb that stands where an object without a verb has its first argument;
/// nullptr: the word is an argument.
const Command *verb_in_place_of_argument(const TypedWords &typed, const std::string &word) {
    return typed.command->verb.empty() && !word.empty() && typed.arguments == 0
               ? find_command(*typed.object, word)
               : nullptr;
}

void take_word(const std::vector<Object> &objects, const std::string &word, TypedWords &typed) {
    if (!typed.object) {
        typed.object =
            find_object(objects, whole_word(word, names_that_may_be_short(objects)).value_or(word));
        typed.command = typed.object ? find_command(*typed.object, "") : nullptr;
    } else if (!typed.command) {
        typed.command =
            find_command(*typed.object, in_full(word, typed.object->commands, &Command::verb));
    } else if (const Command *const other = verb_in_place_of_argument(typed, word)) {
        typed.command = other;
    } else {
        typed.arguments++;
    }
}

TypedWords understand(const std::vector<Object> &objects, const Candidates &words) {
    TypedWords typed;
    for (std::size_t i = 0; i + 1 < words.size(); i++) {
        if (words[i].empty() || words[i][0] != '-') {
            take_word(objects, words[i], typed);
            if (typed.command && typed.command->passes_on) {
                typed.passed = i + 1;
                break;
            }
            continue;
        }
        if (const std::string sign = name_and_sign(words[i]); !sign.empty()) {
            take_option(sign.substr(0, sign.size() - 1), words[i].substr(sign.size()), typed);
            continue;
        }
        const auto option = find_option(objects, words[i]);
        if (!option || option->value.empty())
            continue;
        if (i + 2 == words.size()) {
            typed.value_of = option->name;
            break;
        }
        take_option(option->name, words[++i], typed);
    }
    return typed;
}

std::optional<Tree> open(const TypedWords &typed) {
    auto tree = open_source(typed.from.value_or("module"));
    return tree ? std::optional<Tree>(*tree) : std::nullopt;
}

std::optional<Gpu> selected(const TypedWords &typed) {
    const auto tree = open(typed);
    if (!tree)
        return std::nullopt;
    const auto gpu = select_gpu(*tree, typed.gpu);
    return gpu ? std::optional<Gpu>(gpu->gpu) : std::nullopt;
}

Candidates gpus(const TypedWords &typed) {
    Candidates names;
    if (const auto tree = open(typed))
        if (const auto gpus = nvdebug::gpus(*tree))
            for (const Gpu &gpu : *gpus) {
                names.push_back(std::to_string(gpu.index()));
                if (const auto info = gpu.info(); info && info->pci_address)
                    names.push_back(*info->pci_address);
            }
    return names;
}

Candidates runlists(const Gpu &gpu) {
    Candidates names;
    if (const auto info = gpu.info())
        for (const std::uint32_t id : info->runlists)
            names.push_back(std::to_string(id));
    return names;
}

Candidates engines(const Gpu &gpu) {
    Candidates names;
    if (const auto engines = gpu.engines())
        for (const nvdebug::Engine &engine : *engines)
            names.push_back(engine.name);
    return names;
}

/// Returns `RUNLIST:ID` of everything that is listed now.
Candidates targets(const Gpu &gpu, Argument::Kind kind) {
    Candidates names;
    const auto info = gpu.info();
    if (!info)
        return names;
    for (const std::uint32_t id : info->runlists) {
        const auto list = gpu.runlist(id, Detail::brief);
        if (!list)
            continue;
        if (kind == Argument::Kind::channel) {
            for (const auto &held : nvdebug::channels_of(*list))
                names.push_back(fmt::format("{}:{}", id, held.channel->id));
            continue;
        }
        for (const nvdebug::ListedTsg &tsg : nvdebug::tsgs_of(*list))
            names.push_back(fmt::format("{}:{}", id, tsg.id));
    }
    return names;
}

Candidates argument(const TypedWords &typed) {
    const auto &arguments = typed.command->arguments;
    if (arguments.empty())
        return {};
    const Argument &next = arguments[std::min(typed.arguments, arguments.size() - 1)];
    const bool repeats = next.count == Argument::Count::some || next.count == Argument::Count::any;
    if (typed.arguments >= arguments.size() && !repeats)
        return {};
    switch (next.kind) {
    case Argument::Kind::file:
        return {files};
    case Argument::Kind::choice:
        return next.choices;
    case Argument::Kind::text:
        return {};
    default:
        break;
    }
    const auto gpu = selected(typed);
    if (!gpu)
        return {};
    if (next.kind == Argument::Kind::runlist)
        return runlists(*gpu);
    return next.kind == Argument::Kind::engine ? engines(*gpu) : targets(*gpu, next.kind);
}

Candidates columns(const TypedWords &typed, const std::string &current) {
    Candidates names;
    if (!typed.command)
        return names;
    const std::size_t comma = current.rfind(',');
    const std::string before = comma == std::string::npos ? "" : current.substr(0, comma + 1);
    if (before.empty())
        names.push_back("help");
    for (const Column &column : typed.command->columns)
        names.push_back(before + column.name);
    return names;
}

Candidates value(const std::vector<Object> &objects, const TypedWords &typed,
                 const std::string &current) {
    if (typed.value_of == "--gpu")
        return gpus(typed);
    if (typed.value_of == "--from")
        return {"module", "driver", files};
    if (typed.value_of == "--columns")
        return columns(typed, current);
    const auto option = find_option(objects, typed.value_of);
    return option ? option->choices : Candidates();
}

Candidates options(const TypedWords &typed) {
    Candidates names;
    for (const Option &option : typed.command ? options_of(*typed.command) : common_options())
        names.push_back(option.name);
    return names;
}

Candidates candidates(const std::vector<Object> &objects, const Candidates &words) {
    const std::string &current = words.back();
    TypedWords typed = understand(objects, words);
    if (typed.passed)
        return {fmt::format("{}{}", passes_on, *typed.passed)};
    if (const std::string sign = name_and_sign(current); !sign.empty()) {
        typed.value_of = sign.substr(0, sign.size() - 1);
        Candidates values = value(objects, typed, current.substr(sign.size()));
        for (std::string &one : values)
            if (one != files)
                one.insert(0, sign);
        return values;
    }
    if (!typed.value_of.empty())
        return value(objects, typed, current);
    if (current.starts_with("-"))
        return options(typed);
    Candidates names;
    if (typed.command)
        names = argument(typed);
    const bool takes_verb =
        typed.object && (!typed.command || (typed.command->verb.empty() && typed.arguments == 0));
    if (takes_verb) {
        for (const Command &command : typed.object->commands)
            if (!command.verb.empty())
                names.push_back(command.verb);
    }
    if (typed.object)
        return names;
    for (const Object &object : objects)
        names.push_back(object.name);
    return names;
}

} // namespace

int complete(const std::vector<Object> &objects, const std::vector<std::string> &words,
             Output &output) {
    Candidates typed = words;
    if (!typed.empty() && typed[0] == "--")
        typed.erase(typed.begin());
    if (typed.empty())
        typed.emplace_back();
    std::string text;
    std::set<std::string> seen;
    for (const std::string &candidate : candidates(objects, typed))
        if (candidate == files || candidate.starts_with(passes_on) ||
            candidate.starts_with(typed.back()))
            if (seen.insert(candidate).second)
                text += candidate + "\n";
    static_cast<void>(output.write(text));
    return done;
}

namespace {

Outcome<Exit> print_script(const char *script, Output &output) {
    auto written = output.write(script);
    return written ? Outcome<Exit>(done) : tl::unexpected(written.error());
}

} // namespace

std::vector<Command> completion_commands() {
    return {
        {.object = "completion",
         .verb = "bash",
         .help = "the completion script for bash",
         .scope = Scope::nothing,
         .json = false,
         .examples = {{"source <(nvdebugctl completion bash)", "completion for this shell"}},
         .stream = [](Context &, Output &output) { return print_script(bash_completion, output); }},
        {.object = "completion",
         .verb = "zsh",
         .help = "the completion script for zsh",
         .scope = Scope::nothing,
         .json = false,
         .examples = {{"source <(nvdebugctl completion zsh)",
                       "completion for this shell, after compinit"}},
         .stream = [](Context &, Output &output) { return print_script(zsh_completion, output); }},
        {.object = "completion",
         .verb = "fish",
         .help = "the completion script for fish",
         .scope = Scope::nothing,
         .json = false,
         .examples = {{"nvdebugctl completion fish | source", "completion for this shell"}},
         .stream = [](Context &, Output &output) {
             return print_script(fish_completion, output);
         }}};
}

} // namespace nvdebugctl
