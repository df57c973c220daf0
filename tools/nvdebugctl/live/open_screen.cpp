// SPDX-License-Identifier: MIT OR GPL-2.0
#include "open_screen.hpp"

#include <csignal>
#include <unistd.h>

#include "cli/output.hpp"

namespace nvdebugctl {

std::unique_ptr<Screen> open_screen(const Context &context, const std::string &instead) {
    const Invocation &invocation = context.invocation();
    for (const char *option : {"--csv", "--columns", "--no-header"})
        if (invocation.has(option))
            return nullptr;
    if (invocation.json() || !Output::is_terminal() || !isatty(STDIN_FILENO))
        return nullptr;
    // Sets the locale's encoding of characters, which curses needs.
    static_cast<void>(this_terminal());
    std::unique_ptr<Screen> screen = Screen::open(use_color(context.value("--color")));
    if (!screen)
        say(sentence_on_no_screen(instead));
    return screen;
}

Exit end_by_signal(int signal) {
    if (signal) {
        // Curses may have left a handler.
        std::signal(signal, SIG_DFL);
        std::raise(signal);
    }
    return done;
}

} // namespace nvdebugctl
