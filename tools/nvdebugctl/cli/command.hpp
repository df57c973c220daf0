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
    /// The kind of word: decides how the word is checked and completed.
    enum class Kind { runlist, channel, tsg, engine, file, choice, text };
    enum class Count { one, optional, some, any };

    std::string name; ///< as help shows it: `RUNLIST`
    Kind kind;
    std::string help;
    Count count = Count::one;              ///< `some` and `any` only for the last argument
    std::vector<std::string> choices = {}; ///< only for Kind::choice
};

/// An option. If two commands have options of the same name, both take a value or neither does.
struct Option {
    std::string name; ///< `--brief`
    std::string help;
    std::string value = "";      ///< name of the value in help; empty: the option takes none
    std::string short_name = ""; ///< `-n`
    std::vector<std::string> choices = {};
};

struct Column {
    std::string name; ///< key of JSON rows and column of CSV, with its unit
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
    /// The type of the value: `string`, `uint` or another word of schema.cpp; `object` with the
    /// fields below; the name of a definition in common.json; `a|b` for one of these words, `=a`
    /// for this word, `either` for one of the fields; `[T]` for an array, `[2 T]` for an array of
    /// two, `T?` for a value that may be null.
    std::string type;
    std::vector<Field> fields = {}; ///< fields of an object, or of the objects in an array
};

/// A picture of the verb's data, which is printed in place of the other forms.
struct Picture {
    Option option; ///< `--svg`
    Outcome<std::string> (*draw)(Context &);
};

struct Example {
    std::string line;
    std::string help;
};

/// The GPUs that a command is about. They decide whether -g and --from are of use.
enum class Scope {
    nothing, ///< no GPU; neither option
    tree,    ///< all GPUs: --from
    gpus,    ///< all GPUs, or the one that -g names
    gpu,     ///< one GPU: the one that -g names, the only one, or the first
};

struct Command {
    std::string object;
    std::string verb; ///< empty: the object is the whole command (`check`)
    std::string help; ///< one line, lower case, no full stop
    Scope scope = Scope::gpu;
    std::vector<Argument> arguments = {};
    std::vector<Option> options = {};
    std::vector<Picture> pictures = {};
    std::vector<Column> columns = {}; ///< columns of table and CSV; empty: the command has neither
    bool json = true;
    // The next three describe Document::data for the schema. All controls have the same data.
    std::string data = "what was asked for"; ///< a description of the data
    /// A type as in Field::type. If it is empty, the data is an object with the fields, or without
    /// fields an array of rows with the columns.
    std::string type = "";
    std::vector<Field> fields = {};
    bool control = false;  ///< the command changes the GPU: it takes --dry-run, and needs live GPUs
    bool leasable = false; ///< the command takes --for
    bool passes_on = false; ///< all words after the object are for another program, options too
    /// The source that can carry out the command. Commands that read take `driver` also as a
    /// capture that was made through the driver.
    enum class Means { module, driver, either } means = Means::module;
    std::vector<std::string> notes = {}; ///< additional sentences for the help
    std::vector<Example> examples = {};

    /// Checks arguments that need a rule of this command's own. It runs before anything is read.
    Outcome<void> (*check)(const Context &) = nullptr;
    /// Finds the data. A command has either this function …
    Outcome<Document> (*run)(Context &) = nullptr;
    /// … or this one, which writes the output itself as it goes and returns the exit status.
    Outcome<Exit> (*stream)(Context &, Output &) = nullptr;
    /// Makes the text for people from Document::data; nullptr: a table if there are columns, else
    /// `key: value`. It is not called if data is an array and there are columns.
    void (*text)(const Json &data, Page &page) = nullptr;
    /// Makes one table row from the Document::data of each GPU, for people who ask several GPUs (-g
    /// all); nullptr: the rows or the text of each GPU are printed.
    Json (*row)(const Json &data) = nullptr;

    bool has_table() const { return !columns.empty(); }
    /// Returns whether `-g all` makes sense. A control changes one GPU only.
    bool takes_all_gpus() const { return scope == Scope::gpu && !control; }
    /// Returns for example `runlist show`.
    [[nodiscard]] std::string name() const { return verb.empty() ? object : object + " " + verb; }
    /// Returns the name of the command's schema: `runlist.show`.
    [[nodiscard]] std::string schema() const { return verb.empty() ? object : object + "." + verb; }
};

struct Object {
    std::string name;
    std::string help;
    std::vector<Command> commands;
};

/// Returns the object of this name; nullptr: there is none.
[[nodiscard]] const Object *find_object(const std::vector<Object> &objects, std::string_view name);

/// Returns the names of all objects.
[[nodiscard]] std::vector<std::string> names_of(const std::vector<Object> &objects);

/// Returns the object's verbs.
[[nodiscard]] std::vector<std::string> verbs_of(const Object &object);

/// Returns the names that may be shortened: all but those of objects that start other programs.
[[nodiscard]] std::vector<std::string> names_that_may_be_short(const std::vector<Object> &objects);

/// Returns the verb's command; nullptr: there is no such verb.
[[nodiscard]] const Command *find_command(const Object &object, std::string_view verb);

/// Returns the columns as keys of JSON.
[[nodiscard]] std::vector<Field> fields_of(const std::vector<Column> &columns);

} // namespace nvdebugctl
