// SPDX-License-Identifier: MIT OR GPL-2.0
#include "terminal.hpp"

#include <clocale>
#include <cstring>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace nvdebugctl {

Terminal this_terminal() {
    // Of the locale, only the characters: numbers keep their point.
    std::setlocale(LC_CTYPE, "");
    Terminal terminal{std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0, std::nullopt};
    winsize size{};
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        terminal.width = size.ws_col;
    return terminal;
}

} // namespace nvdebugctl
