// SPDX-License-Identifier: MIT OR GPL-2.0
#include "node_clock.hpp"

#include <ctime>

#include "lib/qos/clock_plan.hpp"

namespace nvqos {

using nvdebug::base::ClockVerdict;
using qos::Ns;

Ns tai_now() {
    timespec now{};
    if (clock_gettime(CLOCK_TAI, &now))
        clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<Ns>(now.tv_sec) * qos::second + now.tv_nsec;
}

ClockVerdict NodeClock::verdict() const {
    const auto read =
        state ? nvdebug::base::read_clock_state(state) : nvdebug::base::read_clock_state();
    if (!read)
        return {false, read.error()};
    return nvdebug::base::judge_clock(*read, qos::ClockSettings().window);
}

bool ClockJudge::look(Ns now) {
    if (now - looked_at_ < between_looks)
        return false;
    looked_at_ = now;
    const bool was_usable = verdict_.is_usable;
    verdict_ = clock_.verdict();
    if (!verdict_.is_usable)
        failed_at_ = now;
    else if (failed_at_ && now - *failed_at_ < calm) {
        verdict_.is_usable = false;
        verdict_.sentence += "; but the clock has failed in the last minute, so that they are not "
                             "used yet";
    }
    return verdict_.is_usable != was_usable;
}

std::string text_of(const ClockVerdict &verdict) {
    return (verdict.is_usable ? "windows by the clock: " : "no windows by the clock: ") +
           verdict.sentence;
}

} // namespace nvqos
