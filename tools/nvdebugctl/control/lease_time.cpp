// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lease_time.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <ctime>
#include <fmt/format.h>
#include <poll.h>
#include <string_view>
#include <sys/time.h>
#include <unistd.h>

#include "cli/text.hpp"
#include "lib/base/ending_signals.hpp"

namespace nvdebugctl {
namespace {

using Seconds = LeaseTime::Seconds;

struct SplitTime {
    time_t whole;
    double part;
};

SplitTime split(Seconds span) {
    double whole;
    const double part = std::modf(std::max(span.count(), 0.0), &whole);
    return {static_cast<time_t>(whole), part};
}

/// Ends the process, and with it the lease, when its time is up while stdout takes no more. The
/// message is left out if stderr would block, too, because the lease has to end now.
void end_on_alarm(int) {
    constexpr std::string_view sentence =
        "nvdebugctl: the time of the lease is up, and its output was not read until now: it is "
        "undone, and the rest of the output is not printed\n";
    pollfd room{STDERR_FILENO, POLLOUT, 0};
    if (poll(&room, 1, 0) == 1 && (room.revents & POLLOUT))
        static_cast<void>(!::write(STDERR_FILENO, sentence.data(), sentence.size()));
    _exit(failed);
}

/// Blocks the signals that end wait(), until this object is destroyed.
class HeldSignals {
  public:
    HeldSignals() : set_(nvdebug::base::ending_signals({SIGTSTP})) {
        sigaddset(&set_, SIGALRM); // SIGALRM is ignored after the first wait()
        pthread_sigmask(SIG_BLOCK, &set_, &before_);
    }
    ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    HeldSignals(const HeldSignals &) = delete;
    HeldSignals &operator=(const HeldSignals &) = delete;

    /// Waits for one of the signals. Returns false if @p limit is over, or if something else
    /// interrupted.
    bool came(std::optional<Seconds> limit) const {
        if (!limit)
            return sigwaitinfo(&set_, nullptr) > 0;
        const SplitTime left = split(*limit);
        const timespec time{left.whole, static_cast<long>(left.part * 1e9)};
        return sigtimedwait(&set_, nullptr, &time) > 0;
    }

  private:
    sigset_t set_;
    sigset_t before_;
};

} // namespace

LeaseTime::LeaseTime(std::optional<Seconds> limit) : limit_(limit) {
    if (!limit_)
        return;
    std::signal(SIGALRM, end_on_alarm);
    const SplitTime span = split(*limit_);
    // A timer of zero would never go off.
    const auto microseconds =
        std::max(static_cast<suseconds_t>(span.part * 1e6), suseconds_t{span.whole == 0 ? 1 : 0});
    const itimerval timer{{}, {span.whole, microseconds}};
    setitimer(ITIMER_REAL, &timer, nullptr);
}

Seconds LeaseTime::wait(const std::function<void()> &each_second) const {
    const HeldSignals signals;
    const auto left = [&]() -> std::optional<Seconds> {
        const auto all = limit_ ? std::optional(*limit_ - elapsed()) : std::nullopt;
        constexpr Seconds second(1);
        return each_second ? std::min(all.value_or(second), second) : all;
    };
    while (!signals.came(left())) {
        if (limit_ && elapsed() >= *limit_)
            break;
        if (each_second)
            each_second();
    }
    // The timer may go off just after the wait.
    std::signal(SIGALRM, SIG_IGN);
    return elapsed();
}

Outcome<std::optional<Seconds>> parse_lease_time(const std::string &text) {
    const auto ns = nvdebug::base::take_time_ns("--for", text, {.bare = "s"});
    if (!ns)
        return usage(ns.error() + "; 0 is until interrupted");
    if (*ns == 0)
        return std::nullopt;
    return std::chrono::nanoseconds(*ns);
}

Outcome<void> check_lease_time(const Context &context) {
    const auto text = context.value("--for");
    if (text)
        if (auto parsed = parse_lease_time(*text); !parsed)
            return tl::unexpected(parsed.error());
    return {};
}

} // namespace nvdebugctl
