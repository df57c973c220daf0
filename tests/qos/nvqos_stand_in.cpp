// SPDX-License-Identifier: MIT OR GPL-2.0
// nvqos over a simulated GPU: NVQOS_STAND_IN=FOLDER nvqos_stand_in [OPTION OF NVQOS]...
#include "stand_in_machine.hpp"

#include "tools/nvqos/run.hpp"

int main(int argc, char **argv) {
    return stand_in::run("nvqos_stand_in", [&](stand_in::Machine &machine) {
        return nvqos::run({argv + 1, argv + argc},
                          [&] { return nvdebug::Result<nvdebug::Tree>(machine.tree()); });
    });
}
