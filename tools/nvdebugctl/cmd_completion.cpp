// SPDX-License-Identifier: MIT OR GPL-2.0
#include "commands.hpp"
#include "completion_script.hpp"
#include "context.hpp"
#include "output.hpp"

namespace nvdebugctl {
namespace {

Outcome<Exit> bash(Context &, Output &output) {
    auto written = output.write(bash_completion);
    return written ? Outcome<Exit>(done) : tl::unexpected(written.error());
}

} // namespace

std::vector<Command> completion_commands() {
    return {{.object = "completion",
             .verb = "bash",
             .help = "the completion script for bash",
             .scope = Scope::nothing,
             .json = false,
             .examples = {{"source <(nvdebugctl completion bash)", "completion for this shell"}},
             .stream = bash}};
}

} // namespace nvdebugctl
