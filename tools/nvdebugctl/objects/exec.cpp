// SPDX-License-Identifier: MIT OR GPL-2.0
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/context.hpp"
#include "lib/base/inherited.hpp"
#include "objects.hpp"
#include "state/tpcs.hpp"

namespace nvdebugctl {
namespace {

/// Replaces this program by nvtaskset.
Outcome<Exit> exec_program(Context &context, Output &) {
    const std::string path = nvtaskset_path();
    std::vector<char *> words{const_cast<char *>("nvtaskset")};
    for (const std::string &word : context.words("WORD"))
        words.push_back(const_cast<char *>(word.c_str()));
    words.push_back(nullptr);
    nvdebug::base::give_inheritance_back();
    execvp(path.c_str(), words.data());
    const int number = errno;
    return fail(nvdebug::code_of_errno(number),
                fmt::format("nvtaskset, which this tool is to become, cannot be run: {}; it is of "
                            "the same package",
                            std::strerror(number)));
}

} // namespace

std::vector<Command> exec_commands() {
    return {
        {.object = "exec",
         .help = "run a CUDA program on some TPCs of a GPU",
         .scope = Scope::nothing,
         .arguments = {{"WORD", Argument::Kind::text,
                        "options of nvtaskset(1), then the program and its arguments",
                        Argument::Count::some}},
         .json = false,
         .passes_on = true,
         .notes = {"This is nvtaskset(1), under another name: options that follow are its, and the "
                   "tool becomes the program.",
                   "What runs then is changed with 'nvtaskset -p'."},
         .examples = {{"nvdebugctl exec --gpcs 0,1 python3 train.py", "on two GPCs alone"},
                      {"nvdebugctl exec --prepare ./server", "TPCs can be set later"}},
         .stream = exec_program},
    };
}

} // namespace nvdebugctl
