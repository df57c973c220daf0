// SPDX-License-Identifier: MIT OR GPL-2.0
#include <exception>

#include "cli/output.hpp"
#include "cli/run.hpp"
#include "commands.hpp"
#include "lib/base/inherited.hpp"

int main(int argc, char **argv) {
    nvdebug::base::make_inheritance_usable();
    // A broken pipe must not end the program before leases are undone and files are finished.
    nvdebug::base::survive_broken_pipes();
    try {
        return nvdebugctl::run(nvdebugctl::all_objects(), {argv + 1, argv + argc});
    } catch (const std::exception &error) {
        nvdebugctl::say(error.what());
        return 2;
    }
}
