// SPDX-License-Identifier: MIT OR GPL-2.0
#include "utc.hpp"

#include <ctime>
#include <fmt/format.h>

namespace nvdebugctl {

std::string format_utc(std::chrono::system_clock::time_point time) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
    const auto since = std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch());
    std::tm utc{};
    gmtime_r(&seconds, &utc);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    return fmt::format("{}.{:03}Z", text, since.count() % 1000);
}

} // namespace nvdebugctl
