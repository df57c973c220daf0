// SPDX-License-Identifier: MIT OR GPL-2.0
// nvdebug-device-plugin: parts of GPUs' time as a resource of Kubernetes, kept by nvqos.
#include <exception>

#include "device_plugin.hpp"
#include "dra.hpp"
#include "lib/base/ending_signals.hpp"
#include "lib/base/inherited.hpp"
#include "lib/cli/main.hpp"
#include "lib/cli/message.hpp"

namespace nvdebug::kubernetes {

void log(const std::string &sentence) {
    cli::say("nvdebug-device-plugin", sentence);
}

namespace {

/// A mode of the program: a verb, and the function that runs it until a signal comes.
struct Mode {
    cli::Verb verb;
    Outcome<Exit> (*run)(const cli::Arguments &);
};

int run(const std::vector<std::string> &words) {
    const std::vector<Mode> modes{{device_plugin_verb(), run_device_plugin}, {dra_verb(), run_dra}};
    cli::Program program{
        .name = "nvdebug-device-plugin",
        .version = NVDEBUG_VERSION,
        .help = "Offers parts of this node's NVIDIA GPUs to Kubernetes. nvqos keeps them.",
        .verbs = {},
        .exit_status = "Exit status: 0 after SIGTERM, SIGINT or SIGHUP; 1: wrong usage, or no such "
                       "folder; 2: missing rights, or another program has the socket; 5: failed, "
                       "may work later.",
        .manual = "nvdebug-device-plugin(8)"};
    for (const Mode &mode : modes)
        program.verbs.push_back(mode.verb);
    return cli::run(program, words, [&](const cli::Parsed &parsed) -> int {
        // Threads inherit the mask, so that none of them ends the program by a signal.
        const sigset_t set = base::ending_signals();
        pthread_sigmask(SIG_BLOCK, &set, nullptr);
        const Mode &mode = modes[static_cast<std::size_t>(parsed.verb - program.verbs.data())];
        const auto exit = mode.run(parsed.arguments);
        return exit ? *exit
                    : cli::refuse(program, parsed.json, exit.error().exit, exit.error().sentence);
    });
}

} // namespace
} // namespace nvdebug::kubernetes

int main(int argc, char **argv) {
    nvdebug::base::make_inheritance_usable();
    nvdebug::base::survive_broken_pipes(); // a broken pipe is an error of write() instead
    try {
        return nvdebug::kubernetes::run({argv + 1, argv + argc});
    } catch (const std::exception &error) {
        nvdebug::kubernetes::log(error.what());
    }
    return nvdebug::base::exit_status::failed;
}
