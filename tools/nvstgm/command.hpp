// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file The table that describes each command of nvstgm(1): parsing, help, completion and the man
 * page come from it. */
#ifndef NVSTGM_COMMAND_HPP
#define NVSTGM_COMMAND_HPP

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/stgm/analysis.hpp"
#include "lib/stgm/taskset.hpp"

namespace nvstgm {

using stgm::Outcome;
using Json = nlohmann::ordered_json;

enum Exit { done = 0, failed = 1, not_schedulable = 2 };

inline tl::unexpected<std::string> fail(std::string sentence) {
    return tl::unexpected(std::move(sentence));
}

struct Option {
    std::string name; ///< `--analysis`
    std::string help;
    std::string value = ""; ///< what its value is called; empty: takes none
    std::string short_name = "";
    std::vector<std::string> choices = {}; ///< the first is the default
    bool repeats = false;
};

/** What was typed, checked against the table. */
class Arguments {
  public:
    std::vector<std::string> words;
    std::map<std::string, std::vector<std::string>> options; ///< by name, values in their order

    bool has(const std::string &option) const { return options.contains(option); }
    /** The last one typed, else @p otherwise. */
    std::string text(const std::string &option, const std::string &otherwise = "") const;
    /** @p least … @p most, or a sentence. */
    Outcome<std::int64_t> number(const std::string &option, std::int64_t otherwise,
                                 std::int64_t least, std::int64_t most = stgm::longest_time) const;
};

struct Command {
    std::string name;
    std::string help;               ///< one line, lower case, no full stop
    std::vector<std::string> words; ///< `SET`
    std::vector<Option> options;
    std::string notes; ///< more sentences for its help
    std::vector<std::pair<std::string, std::string>> examples;
    Outcome<Exit> (*run)(const Arguments &arguments);
    bool more_words = false; ///< the last of @ref words may be several
};

Command allocate_command();
Command check_command();
Command figures_command();
Command generate_command();
Command profile_command();
Command run_command();
Command simulate_command();

std::vector<Command> all_commands();

// What several commands have.

/** `--analysis`, `--waiting` and the like. */
std::vector<Option> analysis_options();
/** `-j`, `--csv` */
std::vector<Option> form_options();
std::vector<Option> operator+(std::vector<Option> some, std::vector<Option> more);
/** @param unit of the set: where times of today's GPUs are defaults, they are microseconds */
Outcome<stgm::Options> analysis_of(const Arguments &arguments, const stgm::TaskSet &set);
std::string name_of(stgm::Method method);

/** The set in a file, `-`: stdin. */
Outcome<stgm::TaskSet> read_set(const std::string &path);
/** Of `--offset`, as `camera=500`: the task's number, and the time. */
Outcome<std::pair<std::size_t, stgm::Time>> offset_of(const std::string &typed,
                                                      const stgm::TaskSet &set);
/** A task that lacks what the method needs. */
Outcome<void> need_allocation(const stgm::TaskSet &set, stgm::Method method);

/** On stderr. */
void say(const std::string &sentence);
/** Equations that the method takes from the paper and that are too small. */
void warn_of(const stgm::Options &options);

} // namespace nvstgm

#endif
