// SPDX-License-Identifier: MIT OR GPL-2.0
// core_tree BOARD WORKLOAD FOLDER writes the files of /proc/gpuX on a modelled board into FOLDER.
// `info` is left out, because it takes facts that are not in the GPU.
#include "files.hpp"
#include "model.hpp"

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

int main(int argc, char **argv) {
    if (argc != 4) {
        std::fputs("usage: core_tree BOARD WORKLOAD FOLDER\n", stderr);
        return 1;
    }
    try {
        core::Model machine(argv[1], argv[2]);
        if (machine.probe() != 0)
            throw std::runtime_error(std::string(argv[1]) + ": cannot be probed");
        core::write(machine, core::files(machine), argv[3]);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "core_tree: %s\n", error.what());
        return 2;
    }
    return 0;
}
