// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The table that describes each command. Parsing, help, checks of options, `--columns help`,
/// completion, `nvdebugctl help --json`, JSON schemas and man pages all come from it. Each object's
/// commands are in its own file, OBJECT.cpp.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "failure.hpp"

namespace nvdebugctl {

using Json = nlohmann::ordered_json;

class Context;
class Output;
class Page;
struct Document;

struct Argument {
    /// What the word is: decides how it is checked and completed.
    enum class Kind { runlist, channel, tsg, engine, file, choice, text };
    enum class Count { one, optional, some, any };

    std::string name; ///< as help shows it: `RUNLIST`
    Kind kind;
    std::string help;
    Count count = Count::one;              ///< `some` and `any`: the last argument only
    std::vector<std::string> choices = {}; ///< of Kind::choice
};

/// An option. Two commands' options of one name take a value both or neither.
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
    std::string type;     ///< as Field::type
    bool in_table = true; ///< shown in tables without --columns
    /// Heading in tables, with `_` where it may be broken; empty: the name without its unit.
    std::string heading = "";
};

/// A key of JSON data.
struct Field {
    std::string name;
    std::string help;
    /// What it holds: `string`, `uint` and other words (schema.cpp), an `object` with fields of its
    /// own, the name of a definition in common.json, `a|b` one of these words, `=a` this word,
    /// `either` one of its fields; `[T]` an array, `[2 T]` of so many, `T?` may be null.
    std::string type;
    std::vector<Field> fields = {}; ///< also of an array's objects
};

/// A picture of what the verb shows, in place of its other forms.
struct Picture {
    Option option; ///< `--svg`
    Outcome<std::string> (*draw)(Context &);
};

struct Example {
    std::string line;
    std::string help;
};

/// What a command is about: decides whether -g and --from are of use.
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
    // Document::data, for the schema. All controls have the same.
    std::string data = "what was asked for"; ///< what it is
    /// As Field::type. Empty: an object, or without fields an array of rows with the columns.
    std::string type = "";
    std::vector<Field> fields = {};
    bool control = false;   ///< changes the GPU: takes --dry-run, and live GPUs only
    bool leasable = false;  ///< takes --for
    bool passes_on = false; ///< what follows is for another program, its options too
    /// What it can be done through. Reading: the driver alone, or a capture made through it.
    enum class Means { module, driver, either } means = Means::module;
    std::vector<std::string> notes = {}; ///< more sentences for its help
    std::vector<Example> examples = {};

    /// Checks of the arguments that only this command can make; runs before anything is read.
    Outcome<void> (*check)(const Context &) = nullptr;
    /// Finds the data …
    Outcome<Document> (*run)(Context &) = nullptr;
    /// … or writes for itself, as it goes; the result is the exit status.
    Outcome<Exit> (*stream)(Context &, Output &) = nullptr;
    /// What a person reads, from Document::data; nullptr: a table if there are columns, else
    /// `key: value`. Is not asked where data is an array and there are columns.
    void (*text)(const Json &data, Page &page) = nullptr;
    /// What a person reads of each of several GPUs (-g all), as a row of a table, from
    /// Document::data; nullptr: the rows or the text of each.
    Json (*row)(const Json &data) = nullptr;

    bool has_table() const { return !columns.empty(); }
    /// `-g all` makes sense: changes are of one GPU.
    bool takes_all_gpus() const { return scope == Scope::gpu && !control; }
    /// `runlist show`
    [[nodiscard]] std::string name() const { return verb.empty() ? object : object + " " + verb; }
    /// `runlist.show`: of its schema
    [[nodiscard]] std::string schema() const { return verb.empty() ? object : object + "." + verb; }
};

struct Object {
    std::string name;
    std::string help;
    std::vector<Command> commands;
};

/// nullptr: no such object.
[[nodiscard]] const Object *find_object(const std::vector<Object> &objects, std::string_view name);

/// Returns the names of all objects.
[[nodiscard]] std::vector<std::string> names_of(const std::vector<Object> &objects);

/// Returns the object's verbs.
[[nodiscard]] std::vector<std::string> verbs_of(const Object &object);

/// Names of which the begin is enough: those of all objects that start no other program.
[[nodiscard]] std::vector<std::string> names_that_may_be_short(const std::vector<Object> &objects);

/// nullptr: no such verb.
[[nodiscard]] const Command *find_command(const Object &object, std::string_view verb);

/// Columns as keys.
[[nodiscard]] std::vector<Field> fields_of(const std::vector<Column> &columns);

} // namespace nvdebugctl
