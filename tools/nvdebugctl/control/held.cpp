// SPDX-License-Identifier: MIT OR GPL-2.0
#include "control/held.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <ctime>

namespace nvdebugctl {
namespace {

using Seconds = std::chrono::duration<double>;
using Clock = std::chrono::steady_clock;

constexpr double kLongest = 1e9;

timespec to_timespec(Seconds span) {
    double whole;
    const double part = std::modf(std::max(span.count(), 0.0), &whole);
    return {static_cast<time_t>(whole), static_cast<long>(part * 1e9)};
}

} // namespace

SignalHold::SignalHold() {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        sigaddset(&signals_, signal);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
}

SignalHold::~SignalHold() {
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

Seconds SignalHold::wait(std::optional<Seconds> limit) const {
    const auto start = Clock::now();
    Seconds waited{};
    int signal;
    do {
        // another signal's handler, or SIGCONT, may cut it short
        if (limit) {
            const timespec left = to_timespec(*limit - waited);
            signal = sigtimedwait(&signals_, nullptr, &left);
        } else {
            signal = sigwaitinfo(&signals_, nullptr);
        }
        waited = Clock::now() - start;
    } while (signal < 0 && (!limit || waited < *limit));
    return waited;
}

Outcome<std::optional<Seconds>> parse_lease_time(const std::string &text) {
    double seconds = 0;
    const char *end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, seconds);
    if (parsed.ec != std::errc() || parsed.ptr != end || !(seconds >= 0 && seconds <= kLongest))
        return usage(fmt::format("--for {}: want seconds, from 0 (until interrupted) to {:.0f}",
                                 text, kLongest));
    if (seconds == 0)
        return std::nullopt;
    return Seconds(seconds);
}

} // namespace nvdebugctl
