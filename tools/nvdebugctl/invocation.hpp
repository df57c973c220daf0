// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file A command line, parsed and checked against the table. */
#ifndef NVDEBUGCTL_INVOCATION_HPP
#define NVDEBUGCTL_INVOCATION_HPP

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"

namespace nvdebugctl {

struct Invocation {
    /** What to do instead of the command. */
    enum class Instead { nothing, help, version, columns_help } instead = Instead::nothing;
    const Object *object = nullptr; ///< nullptr: none was named
    const Command *command = nullptr;

    std::map<std::string, std::vector<std::string>, std::less<>> arguments;
    /** Every option that was given, by its long name; the value is empty for flags. */
    std::map<std::string, std::string, std::less<>> options;
    std::vector<std::string> columns; ///< of --columns

    bool has(std::string_view option) const { return options.find(option) != options.end(); }
    bool json() const { return has("--json") || has("--pretty"); }
};

/** Options that are not a command's own. */
const std::vector<Option> &common_options();
/** Those that the command has a use for: common ones first, its own, of pictures, of controls. */
std::vector<Option> options_of(const Command &command);

/** @param invocation is filled in as far as it goes, also when it fails. */
Outcome<void> parse_command_line(const std::vector<Object> &objects, std::vector<std::string> words,
                                 Invocation &invocation);

/** A number as proc.md has it: decimal, `0x…` or `0…`. */
std::optional<std::uint64_t> parse_integer(const std::string &word);
/** Such a number that fits an id. */
std::optional<std::uint32_t> parse_id(const std::string &word);

} // namespace nvdebugctl

#endif
