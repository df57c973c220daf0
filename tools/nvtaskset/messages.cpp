// SPDX-License-Identifier: MIT OR GPL-2.0
#include "messages.hpp"

#include <cstdio>
#include <cstring>

#include "lib/base/printable.hpp"
#include "lib/base/standard_output.hpp"

namespace nvtaskset {

using nvdebug::base::printable;

void say(const std::string &sentence) {
    std::fprintf(stderr, "nvtaskset: %s\n", printable(sentence).c_str());
}

Exit refuse(const Refusal &why) {
    say(why.sentence);
    return why.exit;
}

Exit refuse(const std::string &sentence, Exit exit) {
    return refuse(Refusal{sentence, exit});
}

Exit written(Exit exit) {
    if (const int error = nvdebug::base::finish_standard_output())
        return refuse(std::string("cannot write: ") + std::strerror(error));
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
