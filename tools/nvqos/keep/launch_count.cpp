// SPDX-License-Identifier: MIT OR GPL-2.0
#include "launch_count.hpp"

#include <algorithm>

namespace nvqos {

LaunchCount::Progress LaunchCount::read(const Shown &shown, bool is_held, std::uint64_t now) {
    const std::uint64_t launched = shown.launched - std::min(shown.launched, shown.unseen);
    // A process that has died never reports the ends of its launches. When the task was idle for
    // long enough, launches that are still open count as ended.
    const std::uint64_t open = launched > shown.ended ? launched - shown.ended : 0;
    const bool is_quiet = launched_at_us_ && now - launched_at_us_ > idle_us;
    gone_ = is_quiet ? open : std::min(gone_, open);
    const std::uint64_t ended = shown.ended + gone_;
    const Counted last = counted_.value_or(Counted{ended, ended});
    // A launch is counted before it is found that its end will not be seen.
    counted_ = {std::max(launched, last.launched), std::max(ended, last.ended)};
    is_drained_ = ended >= launched;
    if (launched > last.launched || is_held)
        launched_at_us_ = now;
    return {counted_->launched - last.launched, counted_->ended - last.ended,
            open > gone_ + shown.unmarked};
}

std::uint64_t LaunchCount::in_flight() const {
    return counted_ ? std::max(counted_->launched, counted_->ended) - counted_->ended : 0;
}

} // namespace nvqos
