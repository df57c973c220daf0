// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file The commands of nvstgm(1), each with the table of its options (lib/cli/table.hpp), and
 * what several of them have in common. */
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

/** Why a command ends, and with which status. A sentence alone is about what was typed or what a
 * file has. */
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
Command simulate_command();

std::vector<Command> all_commands();

// What several commands have.

/** `--analysis`, `--waiting` and the like. */
std::vector<Option> analysis_options();
/** `-j`, `--csv` */
std::vector<Option> form_options();
/** Returns the option's value, @p least … @p most, or a sentence. */
Outcome<std::int64_t> number_of(const Arguments &arguments, const std::string &option,
                                std::int64_t otherwise, std::int64_t least,
                                std::int64_t most = stgm::longest_time);
/** Returns a time in the set's unit, or a sentence. A number alone is in that unit; where it is us,
 * the time may have a unit of its own, as 2ms. */
Outcome<stgm::Time> time_of(const Arguments &arguments, const std::string &option,
                            stgm::Time otherwise, stgm::Time least, const std::string &unit);
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
