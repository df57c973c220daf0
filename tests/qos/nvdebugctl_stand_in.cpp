// SPDX-License-Identifier: MIT OR GPL-2.0
// nvdebugctl over a simulated GPU: NVQOS_STAND_IN=FOLDER nvdebugctl_stand_in [WORD]...
#include "stand_in_driver.hpp"
#include "stand_in_machine.hpp"

#include "cli/run.hpp"
#include "commands.hpp"

int main(int argc, char **argv) {
    return stand_in::run("nvdebugctl_stand_in", [&](stand_in::Machine &machine) {
        stand_in::open_driver = [&] { return machine.tree(); };
        return nvdebugctl::run(nvdebugctl::all_objects(), {argv + 1, argv + argc});
    });
}
