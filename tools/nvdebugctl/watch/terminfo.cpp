// SPDX-License-Identifier: MIT OR GPL-2.0
#include "watch/terminfo.hpp"

#include <unistd.h>

// Its macros have the names of many things, so nothing may follow.
#include <curses.h>
#include <term.h>

namespace nvdebugctl {

bool can_place_cursor() {
    int known = 0;
    if (setupterm(nullptr, STDOUT_FILENO, &known) != OK)
        return false;
    const bool can = cursor_address != nullptr;
    del_curterm(cur_term);
    return can;
}

} // namespace nvdebugctl
