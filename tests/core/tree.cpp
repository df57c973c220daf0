// SPDX-License-Identifier: MIT OR GPL-2.0
// core_tree BOARD WORKLOAD FOLDER: what /proc/gpuX holds on a modelled board, as files of FOLDER; without
// `info`, for which more is to be known than the GPU tells.
#include "files.hpp"
#include "model.hpp"

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>

namespace {

void write(const std::filesystem::path &folder, const std::string &board, const std::string &workload) {
    core::Model machine(board, workload);
    if (machine.probe() != 0)
        throw std::runtime_error(board + ": cannot be probed");
    std::filesystem::create_directories(folder);
    for (const core::File &file : core::files(machine)) {
        if (!file.view)
            continue;
        const core::Text got = core::read(machine, file);
        if (got.error)
            continue;
        std::ofstream out(folder / file.name);
        out << got.text;
        if (!out.flush())
            throw std::runtime_error("cannot write " + (folder / file.name).string());
    }
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 4) {
        std::fputs("usage: core_tree BOARD WORKLOAD FOLDER\n", stderr);
        return 1;
    }
    try {
        write(argv[3], argv[1], argv[2]);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "core_tree: %s\n", error.what());
        return 2;
    }
    return 0;
}
