// SPDX-License-Identifier: MIT OR GPL-2.0
#include <exception>
#include <iostream>
#include <iterator>

#include "command_line.hpp"
#include "forms.hpp"
#include "lib/base/inherited.hpp"
#include "manual.hpp"
#include "running.hpp"

namespace nvstgm {

std::vector<Command> all_commands() {
    return {check_command(),   allocate_command(), simulate_command(), generate_command(),
            figures_command(), profile_command(),  run_command()};
}

namespace {

Outcome<Exit> run(const std::vector<std::string> &words) {
    if (words.empty())
        return fail("a command is missing; 'nvstgm --help' lists them");
    if (words[0] == "-h" || words[0] == "--help" || words[0] == "help")
        return write(help_of_all()).map([] { return done; });
    if (words[0] == "-V" || words[0] == "--version")
        return write("nvstgm " NVSTGM_VERSION "\n").map([] { return done; });
    if (words[0] == "__complete") {
        std::string lines;
        for (const std::string &word : completions({words.begin() + 1, words.end()}))
            lines += word + "\n";
        return write(lines).map([] { return done; });
    }
    if (words[0] == "__manual")
        return write(manual({std::istreambuf_iterator<char>(std::cin), {}})).map([] {
            return done;
        });
    if (words[0] == "__task")
        return static_cast<Exit>(be_task({words.begin() + 1, words.end()}));
    for (const Command &command : all_commands()) {
        if (command.name != words[0])
            continue;
        const auto arguments = parse(command, {words.begin() + 1, words.end()});
        if (!arguments)
            return fail(arguments.error());
        if (arguments->has("--help"))
            return write(help_of(command)).map([] { return done; });
        return command.run(*arguments);
    }
    return fail("there is no command '" + printable(words[0]) + "'; 'nvstgm --help' lists them");
}

} // namespace
} // namespace nvstgm

int main(int argc, char **argv) {
    nvdebug::base::make_inheritance_usable();
    nvdebug::base::survive_broken_pipes(); // an error of write()
    try {
        const auto status = nvstgm::run({argv + 1, argv + argc});
        if (status)
            return *status;
        nvstgm::say(status.error());
    } catch (const std::exception &error) {
        nvstgm::say(error.what());
    }
    return nvstgm::failed;
}
