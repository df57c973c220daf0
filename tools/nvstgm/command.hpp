// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file The commands of nvstgm(1), each with the table of its options (lib/cli/table.hpp), and
 * functions that several of them use. */
#ifndef NVSTGM_COMMAND_HPP
#define NVSTGM_COMMAND_HPP

#include <string>
#include <vector>

#include "lib/base/exit_status.hpp"
#include "lib/cli/parse.hpp"
#include "lib/stgm/analysis.hpp"
#include "lib/stgm/taskset.hpp"

namespace nvstgm {

using stgm::Outcome;
using Json = nlohmann::ordered_json;

using nvdebug::base::exit_status::Exit;
using enum nvdebug::base::exit_status::Exit;

/** The reason for which a command ends, and its exit status. A sentence alone is about an error in
 * the command line or in a file. */
struct Failure {
    Exit exit;
    std::string sentence;

    Failure(Exit status, std::string why) : exit(status), sentence(std::move(why)) {}
    Failure(std::string why) : Failure(bad_usage, std::move(why)) {}
};

template <typename T>
using Answer = tl::expected<T, Failure>;

inline tl::unexpected<std::string> fail(std::string sentence) {
    return tl::unexpected(std::move(sentence));
}
inline tl::unexpected<Failure> fail(Failure failure) {
    return tl::unexpected(std::move(failure));
}
inline tl::unexpected<Failure> fail(Exit exit, std::string sentence) {
    return tl::unexpected(Failure(exit, std::move(sentence)));
}

using nvdebug::cli::Arguments;
using nvdebug::cli::Option;
using nvdebug::cli::operator+;

struct Command {
    nvdebug::cli::Verb verb;
    Answer<Exit> (*run)(const Arguments &arguments);
};

Command allocate_command();
Command check_command();
Command figures_command();
Command generate_command();
Command profile_command();
Command run_command();
Command sensitivity_command();
Command simulate_command();

std::vector<Command> all_commands();

// Functions and options of several commands.

/** Returns `--analysis`, `--waiting` and the other options of analyses. */
std::vector<Option> analysis_options();
/** Returns `-j` and `--csv`. */
std::vector<Option> form_options();
/** Returns the option's value, @p least … @p most, or a sentence. */
Outcome<std::int64_t> number_of(const Arguments &arguments, const std::string &option,
                                std::int64_t otherwise, std::int64_t least,
                                std::int64_t most = stgm::longest_time);
/** Returns a time in the set's unit, or a sentence. A number alone is in the set's unit. If that is
 * us, the time may have a unit of its own, as 2ms. */
Outcome<stgm::Time> time_of(const Arguments &arguments, const std::string &option,
                            stgm::Time otherwise, stgm::Time least, const std::string &unit);
/** Returns the options of the analysis. If the set's unit is us, the default times of `timeslice`
 * are those of an H100. */
Outcome<stgm::Options> analysis_of(const Arguments &arguments, const stgm::TaskSet &set);
std::string name_of(stgm::Method method);

/** Reads the set from a file, or from stdin if the path is `-`. */
Answer<stgm::TaskSet> read_set(const std::string &path);
/** Parses a value of `--offset`, as `camera=500`. Returns the task's number and the time. */
Outcome<std::pair<std::size_t, stgm::Time>> offset_of(const std::string &typed,
                                                      const stgm::TaskSet &set);
/** Fails if a task has no core, or no SMs and the method needs them. */
Outcome<void> need_allocation(const stgm::TaskSet &set, stgm::Method method);

/** Prints `nvstgm: ` and the sentence on stderr, with control characters replaced. */
void say(const std::string &sentence);
/** Warns on stderr if the method uses equations of the paper that are not safe. */
void warn_of(const stgm::Options &options);

} // namespace nvstgm

#endif
