// SPDX-License-Identifier: MIT OR GPL-2.0
#include "pace.hpp"

#include <fmt/format.h>

#include "cli/text.hpp"

namespace nvdebugctl {

Outcome<Pace> pace_of(const Context &context, std::chrono::milliseconds usual,
                      std::chrono::milliseconds shortest, const char *counted) {
    constexpr std::uint64_t longest = 3600 * 1000;
    const auto least = static_cast<std::uint64_t>(shortest.count());
    Pace pace{usual};
    if (const auto word = context.value("--interval")) {
        constexpr std::uint64_t ms = 1'000'000;
        const auto interval = nvdebug::base::take_time_ns(
            "--interval", *word, {.least = least * ms, .most = longest * ms, .bare = "ms"});
        if (!interval)
            return usage(interval.error());
        pace.interval = std::chrono::milliseconds(*interval / ms);
    }
    if (const auto word = context.value("--count")) {
        pace.count = parse_id(*word);
        if (!pace.count || *pace.count == 0)
            return usage(fmt::format("-n {}: a number of {} is 1 or more", *word, counted));
    }
    return pace;
}

} // namespace nvdebugctl
