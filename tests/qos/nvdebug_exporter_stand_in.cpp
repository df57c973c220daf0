// SPDX-License-Identifier: MIT OR GPL-2.0
// nvdebug-exporter over a simulated GPU: NVQOS_STAND_IN=FOLDER nvdebug_exporter_stand_in [WORD]...
// The linker lets the program begin in __wrap_main(), and names the exporter's main() __real_main().
#include "stand_in_driver.hpp"
#include "stand_in_machine.hpp"

extern "C" {
int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);
int __wrap_main(int argc, char **argv) {
    return stand_in::run("nvdebug_exporter_stand_in", [&](stand_in::Machine &machine) {
        stand_in::open_driver = [&] { return machine.tree(); };
        return __real_main(argc, argv);
    });
}
}
