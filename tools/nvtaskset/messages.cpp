// SPDX-License-Identifier: MIT OR GPL-2.0
#include "messages.hpp"

#include <cstring>

#include "lib/base/printable.hpp"
#include "lib/base/standard_output.hpp"
#include "lib/cli/main.hpp"
#include "lib/cli/message.hpp"
#include "program.hpp"

namespace nvtaskset {

using nvdebug::base::printable;

void say(const std::string &sentence) {
    nvdebug::cli::say("nvtaskset", sentence);
}

Exit refuse(const Refusal &why) {
    say(why.sentence);
    return why.exit;
}

Exit refuse(const Options &options, const Refusal &why) {
    return static_cast<Exit>(
        nvdebug::cli::refuse(program(), options.json, static_cast<int>(why.exit), why.sentence));
}

Exit refuse(const std::string &sentence, Exit exit) {
    return refuse(Refusal{sentence, exit});
}

Exit written(Exit exit) {
    if (const int error = nvdebug::base::finish_standard_output())
        return refuse(std::string("cannot write: ") + std::strerror(error), Exit::failed);
    return exit;
}

void note(const Options &options, const std::string &sentence) {
    if (!options.quiet)
        say(sentence);
}

std::string command_of(const Task &task) {
    return task.processes.empty() ? "?" : printable(task.processes.front().command);
}

} // namespace nvtaskset
