// SPDX-License-Identifier: MIT OR GPL-2.0
#include <exception>

#include "command.hpp"
#include "forms.hpp"
#include "lib/base/inherited.hpp"
#include "lib/cli/main.hpp"
#include "running.hpp"

namespace nvstgm {
namespace {

std::vector<Command> all_commands() {
    return {check_command(),    allocate_command(), sensitivity_command(), simulate_command(),
            generate_command(), figures_command(),  profile_command(),     run_command()};
}

nvdebug::cli::Program program_of(const std::vector<Command> &commands) {
    nvdebug::cli::Program program{
        .name = "nvstgm",
        .version = NVSTGM_VERSION,
        .help = "Do tasks with CPU and GPU segments meet their deadlines, on which cores and SMs?",
        .verbs = {},
        .exit_status =
            "Exit status: 0: every deadline is met; 1: wrong usage, or a file that makes "
            "no sense; 2: not schedulable; 3: never on this machine; 4: a deadline was "
            "missed in a run; 5: failed, may work later.",
        .manual = "nvstgm(1)"};
    for (const Command &command : commands)
        program.verbs.push_back(command.verb);
    return program;
}

int run(const std::vector<std::string> &words) {
    if (!words.empty() && words[0] == "__task")
        return be_task({words.begin() + 1, words.end()});
    const std::vector<Command> commands = all_commands();
    const nvdebug::cli::Program program = program_of(commands);
    return nvdebug::cli::run(program, words, [&](const nvdebug::cli::Parsed &parsed) -> int {
        const Arguments &arguments = parsed.arguments;
        if (arguments.has("--json") && arguments.has("--csv"))
            return refuse(program, true, bad_usage, "--json and --csv exclude each other");
        const auto &command =
            commands[static_cast<std::size_t>(parsed.verb - program.verbs.data())];
        const auto status = command.run(arguments);
        return status ? *status
                      : refuse(program, parsed.json, status.error().exit, status.error().sentence);
    });
}

} // namespace
} // namespace nvstgm

int main(int argc, char **argv) {
    nvdebug::base::make_inheritance_usable();
    nvdebug::base::survive_broken_pipes(); // a broken pipe is an error of write() instead
    try {
        return nvstgm::run({argv + 1, argv + argc});
    } catch (const std::exception &error) {
        nvstgm::say(error.what());
    }
    return nvstgm::failed;
}
