// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Records when a repeated operation begins and ends, by the host's clock. */
#ifndef NVDEBUG_LAB_SPANS_HPP
#define NVDEBUG_LAB_SPANS_HPP

#include "options.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <unistd.h>
#include <vector>

namespace lab {

using Spans = std::vector<std::array<std::uint64_t, 2>>; ///< ns

/** Calls @p once to warm up, and then for @p ms again and again, with a pause after each call.
 * Returns the spans of the later calls. */
template <typename Once>
Spans repeat(std::uint64_t ms, Once once, useconds_t pause_us = 0) {
    once();
    Spans spans;
    ready();
    const std::uint64_t end = host_now() + ms * 1'000'000;
    while (host_now() < end) {
        const std::uint64_t begin = host_now();
        once();
        spans.push_back({begin, host_now()});
        if (pause_us)
            usleep(pause_us);
    }
    return spans;
}

/** Prints spans as a list in JSON. */
inline void print(const Spans &spans) {
    std::printf("[");
    for (std::size_t n = 0; n < spans.size(); n++)
        std::printf("%s[%lu, %lu]", n ? ", " : "", spans[n][0], spans[n][1]);
    std::printf("]");
}

} // namespace lab

#endif
