// SPDX-License-Identifier: MIT OR GPL-2.0
#include "clock_state.hpp"

#include <cerrno>
#include <cstring>
#include <sys/timex.h>

#include "quantity.hpp"

namespace nvdebug::base {

tl::expected<ClockState, std::string> read_clock_state(const ReadClock &read) {
    timex state{};
    if (read(&state) < 0)
        return tl::unexpected("the state of the clock cannot be read (adjtimex: " +
                              std::string(::strerrordesc_np(errno)) +
                              "), so that nobody knows whether the clocks of nodes agree");
    return ClockState{.is_synchronised = !(state.status & STA_UNSYNC),
                      .most_wrong_ns = std::int64_t{state.maxerror} * 1000,
                      .tai_offset_s = state.tai ? std::optional(state.tai) : std::nullopt};
}

tl::expected<ClockState, std::string> read_clock_state() {
    return read_clock_state(::adjtimex);
}

ClockVerdict judge_clock(const ClockState &clock, std::int64_t window_ns) {
    if (!clock.is_synchronised)
        return {false, "the clock of this node is not synchronised (STA_UNSYNC), so that its "
                       "windows would not be those of other nodes; run chrony or phc2sys on each "
                       "node"};
    const std::int64_t difference = clock.most_difference_ns(),
                       lost = (100 * difference + window_ns / 2) / window_ns;
    std::string sentence = "the clocks of nodes may differ by " + short_time(difference, " ") +
                           "; windows of " + short_time(window_ns, " ") + " lose ";
    sentence += difference >= window_ns ? std::string("all of their time")
                : lost == 0             ? std::string("less than 1 %")
                                        : "about " + std::to_string(lost) + " %";
    const bool is_usable = difference <= window_ns / 5;
    if (!is_usable)
        sentence += ", so that they are not used; 'chronyc tracking' on each node shows why";
    else if (!clock.tai_offset_s)
        sentence += ". CLOCK_TAI is not set on this node, so that a cycle of more than a second, "
                    "or a leap second, would part it from other nodes; 'leapsectz right/UTC' in "
                    "chrony.conf sets it";
    return {is_usable, std::move(sentence), difference};
}

} // namespace nvdebug::base
