// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file What terminfo says of the terminal, before anything is sent to it. */
#ifndef NVDEBUGCTL_WATCH_TERMINFO_HPP
#define NVDEBUGCTL_WATCH_TERMINFO_HPP

namespace nvdebugctl {

/** False: TERM is unknown, or has no cursor to place (`dumb`). */
bool can_place_cursor();

} // namespace nvdebugctl

#endif
