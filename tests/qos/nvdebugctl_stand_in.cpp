// SPDX-License-Identifier: MIT OR GPL-2.0
// nvdebugctl over a simulated GPU: NVQOS_STAND_IN=FOLDER nvdebugctl_stand_in [WORD]... The linker
// replaces the functions that open NVIDIA's driver by those below (-Wl,--wrap).
#include "stand_in_machine.hpp"

#include "cli/run.hpp"
#include "commands.hpp"

namespace {

using Opened = nvdebug::Result<nvdebug::Tree>;

stand_in::Machine *opened_machine = nullptr;

} // namespace

extern "C" {
Opened __wrap__ZN7nvdebug4Tree6driverERKNS_6AdviceE(const nvdebug::Advice &);
Opened __wrap__ZN7nvdebug4Tree6driverERKNS_6AdviceE(const nvdebug::Advice &) {
    return opened_machine->tree();
}
Opened __wrap__ZN7nvdebug4Tree7runningERKNS_6AdviceE(const nvdebug::Advice &);
Opened __wrap__ZN7nvdebug4Tree7runningERKNS_6AdviceE(const nvdebug::Advice &) {
    return opened_machine->tree();
}
}

int main(int argc, char **argv) {
    return stand_in::run("nvdebugctl_stand_in", [&](stand_in::Machine &machine) {
        opened_machine = &machine;
        return nvdebugctl::run(nvdebugctl::all_objects(), {argv + 1, argv + argc});
    });
}
