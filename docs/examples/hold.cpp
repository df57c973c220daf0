// SPDX-License-Identifier: MIT OR GPL-2.0
// Keeps a task off the GPU for as long as a command runs: hold RUNLIST:CHANNEL COMMAND
#include <cstdlib>
#include <iostream>
#include <nvdebug/nvdebug.hpp>

int main(int argc, char **argv) {
    if (argc != 3) {
        std::cerr << "usage: hold RUNLIST:CHANNEL COMMAND\n";
        return 1;
    }
    const auto channel = nvdebug::parse_target(argv[1]);
    if (!channel) {
        std::cerr << channel.error().sentence << "\n";
        return 1;
    }
    const auto tree = nvdebug::Tree::running();
    if (!tree) {
        std::cerr << tree.error().sentence << "\n";
        return 2;
    }
    // The kernel enables the channel again when `lease` goes, also if this program is killed.
    const auto lease = nvdebug::Gpu(*tree, 0).lease(nvdebug::disable_channels({*channel}));
    if (!lease) {
        std::cerr << lease.error().sentence << "\n";
        return 2;
    }
    return std::system(argv[2]) == 0 ? 0 : 2;
}
