// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>

#include "invocation.hpp"

namespace nvdebugctl {
namespace {

/** Has the command a use for this common option? */
bool is_useful(const Command &command, const std::string &option) {
    if (option == "--gpu")
        return command.scope == Scope::gpu || command.scope == Scope::gpus;
    if (option == "--from")
        return command.scope != Scope::nothing;
    if (option == "--json")
        return command.json;
    // A stream's documents are a line each.
    if (option == "--pretty")
        return command.json && !command.stream;
    if (option == "--csv" || option == "--columns" || option == "--no-header")
        return command.has_table();
    return true;
}

const std::vector<Option> &control_options() {
    static const std::vector<Option> options = {
        {"--dry-run", "print what would be written where, and the old state; write nothing"}};
    return options;
}

const std::vector<Option> &lease_options() {
    static const std::vector<Option> options = {
        {"--for",
         "undo it when the time is up or the tool ends in whatever way; 0: until interrupted",
         "SECONDS"}};
    return options;
}

} // namespace

const std::vector<Option> &common_options() {
    static const std::vector<Option> options = {
        {"--gpu", "index (0, gpu0), PCI address or chip name; default: the only GPU, else gpu0",
         "GPU", "-g"},
        {"--from", "read a capture, or a folder that looks like /proc", "FILE"},
        {"--json", "one JSON document", "", "-j"},
        {"--pretty", "JSON with line breaks and indentation (implies -j)"},
        {"--csv", "comma-separated values (RFC 4180)"},
        {"--columns", "these columns in this order; 'help' lists them", "A,B,..."},
        {"--no-header", "no header line, for --csv and tables"},
        {"--color",
         "auto (on a terminal, unless NO_COLOR is set), always or never",
         "WHEN",
         "",
         {"auto", "always", "never"}},
        {"--help", "this help", "", "-h"},
        {"--version", "the tool's version"},
    };
    return options;
}

std::vector<Option> options_of(const Command &command) {
    std::vector<Option> options;
    std::ranges::copy_if(common_options(), std::back_inserter(options),
                         [&](const Option &option) { return is_useful(command, option.name); });
    options.insert(options.end(), command.options.begin(), command.options.end());
    for (const Picture &picture : command.pictures)
        options.push_back(picture.option);
    if (command.control)
        options.insert(options.end(), control_options().begin(), control_options().end());
    if (command.leasable)
        options.insert(options.end(), lease_options().begin(), lease_options().end());
    return options;
}

} // namespace nvdebugctl
