// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file What stdout can show. */
#ifndef NVDEBUGCTL_TERMINAL_HPP
#define NVDEBUGCTL_TERMINAL_HPP

#include <cstddef>
#include <optional>

namespace nvdebugctl {

struct Terminal {
    bool unicode;                     ///< the locale's characters are UTF-8
    std::optional<std::size_t> width; ///< in columns; empty: no terminal, lines may be of any width
};

/** Of stdout and the environment. */
Terminal this_terminal();

} // namespace nvdebugctl

#endif
