// SPDX-License-Identifier: MIT OR GPL-2.0
// nvqos over a simulated GPU: NVQOS_STAND_IN=FOLDER nvqos_stand_in [OPTION OF NVQOS]...
//
// Its clock is CLOCK_TAI, and ahead by NVQOS_STAND_IN_AHEAD_US. FOLDER/clock has the largest error
// of the clock in microseconds; empty: the clock is not synchronised. Without the file the error is
// 20 us.
#include "stand_in_machine.hpp"

#include "tools/nvqos/run.hpp"

#include <sys/timex.h>

namespace {

int read_clock(timex *state) {
    const char *const folder = std::getenv("NVQOS_STAND_IN");
    std::ifstream file(std::string(folder ? folder : "") + "/clock");
    *state = {};
    state->maxerror = 20;
    state->tai = 37;
    if (file.is_open() && !(file >> state->maxerror))
        state->status = STA_UNSYNC;
    return state->status ? TIME_ERROR : TIME_OK;
}

} // namespace

int main(int argc, char **argv) {
    const char *const ahead_us = std::getenv("NVQOS_STAND_IN_AHEAD_US");
    const qos::Ns ahead = (ahead_us ? std::strtoll(ahead_us, nullptr, 10) : 0) * qos::us;
    const nvqos::NodeClock clock{.now = [ahead] { return nvqos::tai_now() + ahead; },
                                 .state = read_clock};
    return stand_in::run("nvqos_stand_in", [&](stand_in::Machine &machine) {
        return nvqos::run(
            {argv + 1, argv + argc}, [&] { return nvdebug::Result<nvdebug::Tree>(machine.tree()); },
            clock);
    });
}
