// SPDX-License-Identifier: MIT OR GPL-2.0
/**
 * @file The table that describes each command. Parsing, help, checks of options, `--columns help`,
 * completion and `nvdebugctl help --json` all come from it; man pages and schemas are tested
 * against that.
 */
#ifndef NVDEBUGCTL_COMMAND_HPP
#define NVDEBUGCTL_COMMAND_HPP

#include <string>
#include <vector>

#include "document.hpp"

namespace nvdebugctl {

class Context;
class Output;
class Page;

struct Argument {
    /** What the word is: decides how it is checked and completed. */
    enum class Kind { runlist, channel, tsg, engine, file, choice, text };
    enum class Count { one, optional, some, any };

    std::string name; ///< as help shows it: `RUNLIST`
    Kind kind;
    std::string help;
    Count count = Count::one;              ///< `some` and `any`: the last argument only
    std::vector<std::string> choices = {}; ///< of Kind::choice
};

/** An option. Two commands' options of one name take a value both or neither. */
struct Option {
    std::string name; ///< `--brief`
    std::string help;
    std::string value = "";      ///< what its value is called; empty: takes none
    std::string short_name = ""; ///< `-n`
    std::vector<std::string> choices = {};
};

struct Column {
    std::string name; ///< key of JSON rows and column of CSV; carries the unit
    std::string help;
    bool in_table = true; ///< shown in tables unless --columns says otherwise
};

/** A picture of what the verb shows, in place of its other forms. */
struct Picture {
    Option option; ///< `--svg`
    Outcome<std::string> (*draw)(Context &);
};

struct Example {
    std::string line;
    std::string help;
};

/** What a command is about: decides whether -g and --from are of use. */
enum class Scope {
    nothing, ///< neither
    tree,    ///< all GPUs: --from
    gpus,    ///< all GPUs, or that of -g
    gpu,     ///< one GPU: that of -g, the only one, or the first
};

struct Command {
    std::string object;
    std::string verb; ///< empty: the object is the whole command (`check`)
    std::string help; ///< one line, lower case, no full stop
    Scope scope = Scope::gpu;
    std::vector<Argument> arguments = {};
    std::vector<Option> options = {};
    std::vector<Picture> pictures = {};
    std::vector<Column> columns = {}; ///< of table and CSV; empty: has neither
    bool json = true;
    bool control = false;                ///< changes the GPU: takes --dry-run, and live GPUs only
    bool leasable = false;               ///< takes --for
    std::vector<std::string> notes = {}; ///< more sentences for its help
    std::vector<Example> examples = {};

    /** What only this command can tell of its words; before anything is read. */
    Outcome<void> (*check)(const Context &) = nullptr;
    /** Finds the data … */
    Outcome<Document> (*run)(Context &) = nullptr;
    /** … or writes for itself, as it goes; the result is the exit status. */
    Outcome<Exit> (*stream)(Context &, Output &) = nullptr;
    /** What a person reads, from Document::data; nullptr: a table if there are columns, else
     *  `key: value`. Is not asked where data is an array and there are columns. */
    void (*text)(const Json &data, Page &page) = nullptr;

    bool has_table() const { return !columns.empty(); }
    /** `runlist show` */
    std::string name() const { return verb.empty() ? object : object + " " + verb; }
    /** `runlist.show`: of its schema */
    std::string schema() const { return verb.empty() ? object : object + "." + verb; }
};

} // namespace nvdebugctl

#endif
